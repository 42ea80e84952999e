/** A proof as a file. */
export type Bundle = {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The reader brought it as a file, and has it already. */
  readonly isBrought?: boolean
  /** Of a reading of this page: where the transaction is shown. */
  readonly explorerUrl?: string | undefined
}

/** A proof is about 8 KB; a much larger file is not a proof, and would only stall the page. */
export const mostBytes = 1_000_000
