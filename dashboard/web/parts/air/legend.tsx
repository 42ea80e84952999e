import { format, texts } from '../../texts.ts'
import { CategoryMark } from './aqi.tsx'
import { choosePalette, palette } from './palette.ts'
import { type Bin, type Scale, scaleOf } from './scales.ts'

const words = texts.map

type ScaleProps = {
  /** Of the index unless given. */
  readonly scale?: Scale
}

/** What the colours mean, in one line; the legend says the same at length. */
export const ScaleBar = ({ scale = scaleOf('aqi', []) }: ScaleProps) => (
  <span class="scale-bar" aria-hidden="true">
    {scale.unit !== '' && <span class="muted">{scale.unit}</span>}
    {scale.bins.map((bin) => (
      <span key={bin.from} class="aqi" title={bin.words}>
        <StepMark bin={bin} />
        <span class="number">{format.number(bin.from, scale.digits)}</span>
        {bin.words !== undefined && <span class="scale-word">{bin.words}</span>}
      </span>
    ))}
    <span class="aqi" title={words.legendNone}>
      <CategoryMark category={null} />
      <span class="scale-word">{words.offline}</span>
    </span>
  </span>
)

/** What the colours mean, and the choice of colours. */
export const Legend = ({ scale = scaleOf('aqi', []) }: ScaleProps) => {
  const numberOf = (value: number): string => format.number(value, scale.digits)
  return (
    <div class="legend">
      <ul aria-label={words.legendOf}>
        {scale.bins.map((bin, at) => {
          const { from, words: name, category } = bin
          const next = scale.bins[at + 1]?.from
          const step = 10 ** -scale.digits
          const range =
            next === undefined
              ? words.and(numberOf(from))
              : next - step <= from
                ? numberOf(from)
                : `${numberOf(from)}–${numberOf(category === undefined && name === undefined ? next : next - step)}`
          return (
            <li key={from}>
              <span class="aqi">
                <StepMark bin={bin} />
                <span class="number">{range}</span>
              </span>
              <span>{name ?? scale.unit}</span>
            </li>
          )
        })}
        <li>
          <span class="aqi">
            <CategoryMark category={null} />
          </span>
          <span>{words.legendNone}</span>
        </li>
      </ul>
      <label class="check">
        <input
          type="checkbox"
          checked={palette.value === 'vision'}
          onChange={({ currentTarget }) => choosePalette(currentTarget.checked ? 'vision' : 'epa')}
        />
        {words.colours}
      </label>
    </div>
  )
}

/** A category's shape; a step that has none is a dot. */
const StepMark = ({ bin: { category, color } }: { readonly bin: Bin }) =>
  category === undefined ? (
    <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <circle cx="8" cy="8" r="6.5" fill={color} stroke="var(--edge)" />
    </svg>
  ) : (
    <CategoryMark category={category} />
  )
