/** What a run of batches claims, whatever file its readings are in: its headers, and its anchor. */
import {
  type Verification,
  type VerifyOptions,
  verifyBundle,
} from '../../anchor/verifier/airproof-verify.js'
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { type BatchEnd, endOf, endOfRecord } from '../../core/proof/batch.ts'
import { chainFault, headerFault } from '../../core/proof/batch-faults.ts'
import { type BundleParts, bundleText } from '../../core/proof/bundle.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { type ExportRun, versionOf } from './export-manifest.ts'

/** Why a file is refused, as a sentence. */
export class Refusal extends Error {}
export const refuse = (why: string): never => {
  throw new Refusal(why)
}

/** Header follows header, from the record before the first one on. @throws Refusal */
export function checkHeaders(run: ExportRun, keccak: Keccak): void {
  let end = endBefore(run, keccak)
  for (const header of run.headers) {
    const fault = headerFault(header) ?? (end && chainFault(end, header))
    if (fault !== undefined) refuse(`the header of batch ${header.index} is at fault: ${fault}`)
    end = endOf(header, keccak)
  }
}

/**
 * Where the batch before a run ended. A head of version 2 holds the last numbers of its batch and not
 * the first ones, so without the record before it a run could claim any. Version 1 has no such record.
 */
function endBefore(run: ExportRun, keccak: Keccak): BatchEnd | undefined {
  if (versionOf(run) === 1) return undefined
  return run.before === undefined
    ? refuse('a run of version 2 lacks the record before its first header')
    : endOfRecord(run.before, keccak)
}

/** A reading of the last batch of a run, with what leads from it to the root. */
export type LastReading = Pick<BundleParts, 'reading' | 'signature' | 'path'>

/**
 * That the last head of a run was anchored, which the standalone verifier checks with one reading.
 * @throws Refusal
 */
export async function verifyEnd(
  run: ExportRun,
  last: LastReading | undefined,
  { keccak, pins }: { readonly keccak: Keccak; readonly pins: VerifyOptions },
): Promise<Verification> {
  const { headers, chain } = run
  const header = headers.at(-1)
  if (last === undefined || header === undefined)
    return refuse('a run of batches ends without a row that is proven')
  const verification = await verifyBundle(bundleText({ ...last, header, chain }, keccak), pins)
  const failed = verification.checks.find(({ ok }) => !ok)
  if (failed !== undefined) refuse(`batch ${header.index}: ${failed.name}: ${failed.why}`)
  assertBegun(run, pins)
  return verification
}

/** The end of a run is pinned by its last batch; numbers only ascend, so its beginning is by the first one. */
function assertBegun({ headers: [first], chain }: ExportRun, { network }: VerifyOptions): void {
  const pinned = network?.contracts.find(({ address }) => address === chain.contract)
  if (pinned?.begins === undefined || first === undefined) return
  const { after_batch: after, head, numbers } = pinned.begins
  const isFirst = first.index === after + 1
  if (first.index <= after || (isFirst && first.prevHead !== head))
    refuse(
      `batch ${first.index}: pins: its contract counts after batch ${after} and head ${head} only`,
    )
  const partition = first.nFirst.findIndex((n, at) => n <= (numbers[at] ?? Infinity))
  if (partition >= 0)
    refuse(
      `batch ${first.index}: pins: it has number ${first.nFirst[partition]} of partition ${partition}, and its contract counts those after ${numbers[partition]} only`,
    )
}

/** Whether the header numbers the reading. */
export function isNumberedBy(header: BatchHeader, seq: number): boolean {
  const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
  return n >= (header.nFirst[partition] ?? Infinity) && n <= (header.nLast[partition] ?? 0)
}
