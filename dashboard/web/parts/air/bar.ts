type BarPart = { readonly kind: 'ok' | 'warn' | 'error'; readonly count: number }

/** One step of time. */
export type Bar = {
  /** From the ground up. */
  readonly parts: readonly BarPart[]
  readonly title: string
}
