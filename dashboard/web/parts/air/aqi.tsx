import type { UsCategory } from '../../../../core/air/index/us-bands.ts'
import { texts } from '../../texts.ts'
import { categoryAt, categoryShapes, categoryWords } from './categories.ts'
import { colorOf } from './palette.ts'

/** The category's shape in its colour; hidden from screen readers. */
export const CategoryMark = ({ category }: { readonly category: UsCategory | null }) => (
  <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    {category === null ? (
      <circle cx="8" cy="8" r="5.5" fill="none" stroke="var(--edge)" stroke-dasharray="2.5 2" />
    ) : (
      <path
        d={categoryShapes[category]}
        fill={colorOf(category)}
        stroke="var(--text)"
        stroke-opacity="0.55"
        stroke-width="0.8"
      />
    )}
  </svg>
)

type AqiProps = {
  readonly aqi: number | null | undefined
  /** With the category's name after the number. */
  readonly words?: boolean
}

/** An index: shape, number, and the category as text, shown or for screen readers. */
export function Aqi({ aqi, words = false }: AqiProps) {
  const category = categoryAt(aqi)
  if (category === null) {
    return (
      <span class="aqi muted">
        <CategoryMark category={null} />
        {texts.common.noIndex}
      </span>
    )
  }
  return (
    <span class="aqi">
      <CategoryMark category={category} />
      <b>{aqi}</b>
      <span class={words ? '' : 'visually-hidden'}> {categoryWords[category]}</span>
    </span>
  )
}
