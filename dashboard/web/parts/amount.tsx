import { format, texts } from '../texts.ts'

type AmountProps = {
  readonly value: number | null | undefined
  readonly unit?: string
  /** Decimals at most. */
  readonly digits?: number
}

/** A number with its unit, in the page's language; a dash, with words, where there is none. */
export function Amount({ value, unit, digits = 2 }: AmountProps) {
  if (value === null || value === undefined)
    return <span class="muted">{texts.common.notMeasured}</span>
  return (
    <span class="number">
      {format.number(value, digits)}
      {unit !== undefined && <span class="muted"> {unit}</span>}
    </span>
  )
}
