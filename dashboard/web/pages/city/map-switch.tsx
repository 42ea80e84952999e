/** What the map and the list show: a quantity; of the index also its averaging and which one. */
import { quantityNames } from '../../../../core/air/quantities.ts'
import { Select } from '../../forms/select.tsx'
import { namesOf } from '../../parts/air/quantity-names.ts'
import type { ShownQuantity } from '../../parts/air/scales.ts'
import { texts } from '../../texts.ts'
import { type Choice, indices, means } from './shown.ts'

const words = texts.map

type SwitchProps = {
  readonly choice: Choice
  readonly choose: (changes: Partial<Choice>) => void
}

const shownNames: readonly ShownQuantity[] = ['aqi', ...quantityNames]

export function MapSwitch({ choice, choose }: SwitchProps) {
  const { quantity, mean, index } = choice
  return (
    <div class="map-switch">
      <Select
        isLabelHidden
        label={words.show}
        value={quantity}
        choices={shownNames.map(
          (name) => [name, name === 'aqi' ? words.theIndex : namesOf(name).short] as const,
        )}
        onValue={(name) => choose({ quantity: name })}
      />
      {quantity === 'aqi' && (
        <>
          <Select
            isLabelHidden
            label={words.mean}
            value={mean}
            choices={means.map((name) => [name, words.means[name]] as const)}
            onValue={(name) => choose({ mean: name })}
          />
          <Select
            isLabelHidden
            label={words.index}
            value={index}
            choices={indices.map((name) => [name, words.indices[name]] as const)}
            onValue={(name) => choose({ index: name })}
          />
        </>
      )}
    </div>
  )
}
