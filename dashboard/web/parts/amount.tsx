import { mapQuantities, type QuantityName } from '../../../core/air/quantities.ts'
import { format, texts } from '../texts.ts'

type AmountProps = {
  readonly value: number | null | undefined
  readonly unit?: string
  /** It is shown with that quantity's decimals, zeros too, so that values line up; else exactly. */
  readonly quantity?: QuantityName
}

const decimals = mapQuantities((quantity) => quantity.decimals)

/** A number with its unit, in the page's language; a dash, with words, where there is none. */
export function Amount({ value, unit, quantity }: AmountProps) {
  if (value === null || value === undefined)
    return <span class="muted">{texts.common.notMeasured}</span>
  return (
    <span class="number">
      {quantity === undefined
        ? format.number(value, 2)
        : format.number(value, decimals[quantity], { fixed: true })}
      {unit !== undefined && <span class="muted"> {unit}</span>}
    </span>
  )
}
