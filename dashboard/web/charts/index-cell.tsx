import { categoryAt, categoryWords } from '../parts/air/categories.ts'
import { colorOf } from '../parts/air/palette.ts'
import { format, words } from './words.ts'

type CellProps = {
  readonly aqi: number | null | undefined
  /** What it is of, on hover. */
  readonly title: string
}

/** A cell of a table in the colour of its index, which it also shows as a number. */
export function IndexCell({ aqi, title }: CellProps) {
  const category = categoryAt(aqi)
  if (aqi === null || aqi === undefined || category === null)
    return (
      <td class="index-cell is-none" title={`${title}: ${words.none}`}>
        <span aria-hidden="true">·</span>
        <span class="visually-hidden">{words.none}</span>
      </td>
    )
  return (
    <td
      class="index-cell"
      title={`${title}: ${format.number(aqi)}, ${categoryWords[category]}`}
      style={{ '--category': colorOf(category) }}
    >
      {format.number(aqi)}
    </td>
  )
}
