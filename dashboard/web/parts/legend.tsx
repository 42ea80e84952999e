import { usBands } from '../../../core/air/index/us-bands.ts'
import { CategoryMark } from './aqi.tsx'
import { categoryWords } from './categories.ts'
import { choosePalette, palette } from './palette.ts'

/** What the shapes and colours mean, and the choice of colours. */
export const Legend = () => (
  <div class="legend">
    <ul aria-label="Categories of the air quality index">
      {usBands.map(({ category, aqi }) => (
        <li key={category}>
          <span class="aqi">
            <CategoryMark category={category} />
            <span class="number">
              {aqi.low}–{aqi.high}
            </span>
          </span>
          <span>{categoryWords[category]}</span>
        </li>
      ))}
      <li>
        <span class="aqi">
          <CategoryMark category={null} />
        </span>
        <span>No index, or offline</span>
      </li>
    </ul>
    <label class="check">
      <input
        type="checkbox"
        checked={palette.value === 'vision'}
        onChange={({ currentTarget }) => choosePalette(currentTarget.checked ? 'vision' : 'epa')}
      />
      Colours that are easier to tell apart
    </label>
  </div>
)
