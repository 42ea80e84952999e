/** A proof as a file. */
export type Bundle = {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Of a reading of this page, as the API gives them; a file that the reader brought has neither. */
  readonly link?: string | undefined
  /** Where the transaction is shown. */
  readonly explorerUrl?: string | undefined
}

/** A proof is about 8 KB; a much larger file is not a proof, and would only stall the page. */
export const mostBytes = 1_000_000
