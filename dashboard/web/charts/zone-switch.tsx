import { serverMs } from '../parts/time/clock.ts'
import {
  chooseZone,
  differentChoices,
  zoneChoice,
  zoneChoices,
  zoneName,
  zoneOf,
} from '../parts/time/time-zone.ts'
import { words } from './words.ts'

/** The network's zone, the reader's own, or UTC. */
export const ZoneSwitch = () => (
  <label class="zone-switch">
    <span>{words.zone.label}</span>{' '}
    <select
      value={zoneChoice.value}
      onChange={({ currentTarget }) => {
        const choice = zoneChoices.find((known) => known === currentTarget.value)
        if (choice !== undefined) chooseZone(choice)
      }}
    >
      {zoneChoices
        .filter((choice) => differentChoices.value.includes(choice) || choice === zoneChoice.value)
        .map((choice) => (
          <option key={choice} value={choice}>
            {choice === 'utc'
              ? words.zone.choices.utc
              : `${words.zone.choices[choice]}: ${zoneName(zoneOf(choice), serverMs())}`}
          </option>
        ))}
    </select>
  </label>
)
