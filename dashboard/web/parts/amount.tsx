type AmountProps = {
  readonly value: number | null | undefined
  readonly unit?: string
  /** Decimals at most. */
  readonly digits?: number
}

/** A number with its unit, in the reader's language; a dash, with words, where there is none. */
export function Amount({ value, unit, digits = 2 }: AmountProps) {
  if (value === null || value === undefined) return <span class="muted">not measured</span>
  return (
    <span class="number">
      {value.toLocaleString(undefined, { maximumFractionDigits: digits })}
      {unit !== undefined && <span class="muted"> {unit}</span>}
    </span>
  )
}
