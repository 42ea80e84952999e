/** For whoever imports `airproof-verify.js` from TypeScript; the file itself needs no types. */

export type VerifyOptions = {
  /** The hash of the anchoring block, from a source that is trusted. */
  readonly trustedBlockHash?: string
  readonly chainId?: number | string
  readonly contract?: string
  /** URL of a node to ask; a bundle of level `rpc` needs one. */
  readonly rpc?: string
}

/** The names are those of docs/proofs.md. */
export type Check = {
  readonly name:
    | 'format'
    | 'pins'
    | 'leaf'
    | 'path'
    | 'batch'
    | 'head'
    | 'block'
    | 'transaction'
    | 'receipt'
    | 'trusted block'
    | 'node'
  readonly ok: boolean
  readonly why: string
}

export type ProvenReading = {
  readonly sensor_id: string
  readonly timestamp: string
  readonly seq: number
  readonly pm25: number | null
  readonly pm10: number | null
  readonly co2: number | null
  readonly temperature: number | null
  readonly humidity: number | null
  readonly aqi: number | null
}

export type AnchoringBlock = {
  readonly chainId: number
  readonly contract: string
  readonly number: number
  readonly hash: string
  readonly time: string
  readonly txHash: string
}

export type Verification = {
  readonly ok: boolean
  /** In order, up to the first that failed. */
  readonly checks: readonly Check[]
  /** Checks that could have been asked for, and were not: neither yes nor no. */
  readonly notAsked: readonly { readonly name: Check['name']; readonly why: string }[]
  /** The operator runs this chain, so it proves nothing about time. */
  readonly demonstration: boolean
  /** In words, what is left to trust; empty where the bundle is refused. */
  readonly trusts: readonly string[]
  /** Both null where the bundle is refused. */
  readonly reading: ProvenReading | null
  readonly block: AnchoringBlock | null
}

/** @param bundle the text of a bundle's file, every byte of it, or the object in it */
export function verifyBundle(bundle: unknown, options?: VerifyOptions): Promise<Verification>

/** The same from the bytes of the file. */
export function verifyFile(bytes: Uint8Array, options?: VerifyOptions): Promise<Verification>

/** A verification in words, several lines. */
export function describe(verification: Verification): string

/** The leaf of a bundle's `reading`, from its values alone. */
export function leafOf(reading: {
  readonly sensor_id: string
  readonly time_ms: number
  readonly seq: number
  readonly pm25: number | null
  readonly pm10: number | null
  readonly co2: number | null
  readonly temperature: number | null
  readonly humidity: number | null
  readonly aqi: number | null
}): string

export function keccak256(bytes: Uint8Array): Uint8Array
