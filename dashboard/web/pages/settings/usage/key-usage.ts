export type KeyUsage = {
  readonly id: string
  readonly name: string
  /** Its first characters. */
  readonly hint: string
  /** Requests of each day, today first. */
  readonly used: readonly number[]
}
