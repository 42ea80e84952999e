/** What a proof's file says, for the page to draw. Nothing of it is believed before it was checked. */
import type { Check, Verification } from '../../../../anchor/verifier/airproof-verify.js'

export type Facts = {
  readonly version: 1 | 2
  readonly sensorId: string
  readonly timeMs: number
  /** The number that the reading got when it was accepted, in its partition. */
  readonly number: number
  readonly fingerprint: string
  readonly isSigned: boolean
  readonly publicKey: string
  readonly batch: {
    readonly index: number
    readonly count: number
    readonly sealedMs: number
    /** Hash of a block that the batch was sealed after; undefined: none was recorded. */
    readonly beacon: string | undefined
  }
  readonly block: {
    readonly chainId: number
    readonly contract: string
    readonly number: number
    readonly hash: string
    readonly timeMs: number
    readonly txHash: string
  }
}

/** The fields that are read here, of a file whose form the verifier has checked. */
type Bundle = {
  readonly format: string
  readonly reading_hash: string
  readonly reading: {
    readonly sensor_id: string
    readonly time_ms: number
    readonly seq: number
    readonly device?: { readonly public_key: string } | null
  }
  readonly batch: {
    readonly index: number
    readonly count: number
    readonly sealed_ms: number
    readonly beacon: string
  }
  readonly anchor: {
    readonly chain_id: number
    readonly contract: string
    readonly block_number: number
    readonly block_hash: string
    readonly block_time_s: number
    readonly tx_hash: string
  }
}

/** Of its number in the log, the part below the partition. */
const numbers = 2 ** 40

/** @returns undefined for a file that is not of the form of a proof */
export function factsOf(
  bytes: Uint8Array<ArrayBuffer>,
  { checks }: Pick<Verification, 'checks'>,
): Facts | undefined {
  if (!checks.some(({ name, ok }) => name === 'format' && ok)) return undefined
  const { format, reading_hash, reading, batch, anchor }: Bundle = JSON.parse(
    new TextDecoder().decode(bytes),
  )
  return {
    version: format.endsWith('v1') ? 1 : 2,
    sensorId: reading.sensor_id,
    timeMs: reading.time_ms,
    number: reading.seq % numbers,
    fingerprint: reading_hash,
    isSigned: (reading.device ?? null) !== null,
    publicKey: reading.device?.public_key ?? '',
    batch: {
      index: batch.index,
      count: batch.count,
      sealedMs: batch.sealed_ms,
      beacon: /^0x0*$/.test(batch.beacon) ? undefined : batch.beacon,
    },
    block: {
      chainId: anchor.chain_id,
      contract: anchor.contract,
      number: anchor.block_number,
      hash: anchor.block_hash,
      timeMs: anchor.block_time_s * 1000,
      txHash: anchor.tx_hash,
    },
  }
}

/** Whether the text begins as the file does that names a network. */
export const isNetworkFile = (bytes: Uint8Array<ArrayBuffer>): boolean =>
  /^\s*\{\s*"format"\s*:\s*"airproof\.network\./.test(
    new TextDecoder().decode(bytes.subarray(0, 200)),
  )

export const stepNames = ['sensor', 'accepted', 'batch', 'block'] as const
export type StepName = (typeof stepNames)[number]

/** The checks that each step of the path stands on; the last of them is the one that decides it. */
const checksOf: Readonly<Record<StepName, readonly Check['name'][]>> = {
  sensor: ['signed text', 'signature'],
  accepted: ['format', 'leaf'],
  batch: ['path', 'batch', 'head'],
  block: ['pins', 'block', 'transaction', 'trusted block', 'node', 'code', 'receipt'],
}

/** `open`: it was not checked, or not all that it takes. */
export type StepState = 'done' | 'failed' | 'open'

export function stepState(step: StepName, { checks }: Pick<Verification, 'checks'>): StepState {
  const names = checksOf[step]
  if (checks.some(({ name, ok }) => !ok && names.includes(name))) return 'failed'
  return checks.some(({ name }) => name === names.at(-1)) ? 'done' : 'open'
}
