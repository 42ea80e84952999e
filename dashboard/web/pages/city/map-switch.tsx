/** What the map and the list show: a quantity; of the index also its averaging and which one. */
import type { ComponentChildren } from 'preact'
import { quantityNames } from '../../../../core/air/quantities.ts'
import { namesOf } from '../../parts/quantity-names.ts'
import type { ShownQuantity } from '../../parts/scales.ts'
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
      <Choose label={words.show} value={quantity} set={(name) => choose({ quantity: name })}>
        {shownNames.map(
          (name) => [name, name === 'aqi' ? words.theIndex : namesOf(name).short] as const,
        )}
      </Choose>
      {quantity === 'aqi' && (
        <>
          <Choose label={words.mean} value={mean} set={(name) => choose({ mean: name })}>
            {means.map((name) => [name, words.means[name]] as const)}
          </Choose>
          <Choose label={words.index} value={index} set={(name) => choose({ index: name })}>
            {indices.map((name) => [name, words.indices[name]] as const)}
          </Choose>
        </>
      )}
    </div>
  )
}

type ChooseProps<Name extends string> = {
  readonly label: string
  readonly value: Name
  readonly set: (name: Name) => void
  readonly children: readonly (readonly [Name, ComponentChildren])[]
}

const Choose = <Name extends string>({ label, value, set, children }: ChooseProps<Name>) => (
  <label>
    <span class="visually-hidden">{label}</span>
    <select
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = children.find(([name]) => name === currentTarget.value)
        if (chosen !== undefined) set(chosen[0])
      }}
    >
      {children.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  </label>
)
