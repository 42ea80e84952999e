/** For TypeScript that imports `airproof-verify.js`; the file itself needs no types. */

/** A network as `readNetwork` gives it: what a bundle must be of. */
export type Network = {
  readonly name: string
  readonly chainId: number
  readonly demonstration: boolean
  readonly contracts: readonly {
    readonly address: string
    readonly version: number
    /** Where it was deployed, or before. */
    readonly block: number
    /** keccak256 of its code with zeros in place of the owner. */
    readonly code_hash: string
    /** Where the code holds the owner: 32 bytes from each of these on. */
    readonly owner_at: readonly number[]
    /** The last batch that counts in it; null or absent: it is in use. */
    readonly last_batch?: number | null
    /** In every contract of a file, or in none. `numbers`: the last ones that are not of this contract. */
    readonly begins?: {
      readonly after_batch: number
      readonly head: string
      readonly numbers: readonly number[]
    }
    /** Null: it is in use, or no batch of it counts. `numbers`: the last ones that are of this contract. */
    readonly ends?: {
      readonly block: number
      readonly tx_index: number
      readonly head: string
      readonly numbers: readonly number[]
    } | null
  }[]
}

/** @param text of a network file  @throws Error that says why the file pins nothing */
export function readNetwork(text: string): Network

export type VerifyOptions = {
  /** The network that is meant: its chain, its contracts, where they began and their code. */
  readonly network?: Network
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
    | 'signed text'
    | 'signature'
    | 'path'
    | 'batch'
    | 'head'
    | 'block'
    | 'transaction'
    | 'receipt'
    | 'trusted block'
    | 'node'
    | 'code'
  readonly ok: boolean
  readonly why: string
}

/** What a leaf of version 1 holds of a reading's values; null: not measured. */
export type LeafValues = {
  readonly [Name in 'pm25' | 'pm10' | 'co2' | 'temperature' | 'humidity']: number | null
}

/** What version 2 may hold beside. */
type LaterName =
  | 'pm1'
  | 'pm4'
  | 'pressure'
  | 'no2'
  | 'o3'
  | 'co'
  | 'so2'
  | 'voc_index'
  | 'nox_index'
  | 'tvoc'
  | 'noise'

/** Values in their units. Area and flags are proven by version 2 alone, as are more values. */
export type ProvenReading = LeafValues & {
  readonly [Name in LaterName]?: number
} & {
  readonly area?: string
  readonly flags?: number
  readonly sensor_id: string
  readonly timestamp: string
  readonly seq: number
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
  /** Refused only because the node that was named gave no answer. */
  readonly unreachable: boolean
  /** In words, what is proven; empty where the bundle is refused. */
  readonly proves: readonly string[]
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

/** `reading` as a bundle has it: values in whole hundredths. */
export type BundleReading = LeafValues & {
  readonly sensor_id: string
  readonly time_ms: number
  readonly seq: number
  readonly aqi: number | null
}

/** The same of version 2. */
export type BundleReading2 = {
  readonly sensor_id: string
  readonly time_ms: number
  readonly seq: number
  readonly area: string
  readonly flags: number
  readonly values: readonly (readonly [id: number, hundredths: number])[]
  readonly aqi: number | null
  readonly device: {
    readonly algorithm: 'ed25519' | 'p256'
    readonly public_key: string
    readonly signature: string
    readonly text: string
  } | null
}

/** The leaf of a bundle's `reading`, from its values alone. @param version of the leaf, 1 unless given */
export function leafOf(reading: BundleReading, version?: 1): string
export function leafOf(reading: BundleReading2, version: 2): string

/** By `format`: the versions of leaf and header that a bundle holds. */
export const bundleVersions: ReadonlyMap<string, { readonly leaf: number; readonly header: number }>
/** By the name of a quantity, in hundredths: outside of it a signed value may be missing. */
export const hardRanges: ReadonlyMap<string, readonly [low: number, high: number]>
/** The values of a leaf: of version 1 in the order of its words, of version 2 by their ids. */
export const leafVersions: ReadonlyMap<number, readonly string[]>
/** The fields of a header, each with its type, in the order of its words. */
export const headerVersions: ReadonlyMap<number, string>

export function keccak256(bytes: Uint8Array): Uint8Array
