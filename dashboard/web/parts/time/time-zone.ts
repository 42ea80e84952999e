/**
 * The zone that times are shown in: the network's, unless the reader chose another one. The choice is
 * in the address, so that a link shows the same, and is kept in the browser.
 */
import { computed, signal } from '@preact/signals'
import { config } from '../../me.ts'
import { addressValue, setAddress } from '../address-state.ts'
import { offsetText } from './local-clock.ts'

export const zoneChoices = ['network', 'mine', 'utc'] as const
export type ZoneChoice = (typeof zoneChoices)[number]

const storageKey = 'airproof.zone'
const asChoice = (text: string | null): ZoneChoice | undefined =>
  zoneChoices.find((choice) => choice === text)

const remembered = (): ZoneChoice => {
  try {
    return asChoice(localStorage.getItem(storageKey)) ?? 'network'
  } catch {
    // storage may be forbidden; the choice is then not remembered
    return 'network'
  }
}
const kept = signal<ZoneChoice>(remembered())

export const zoneChoice = computed<ZoneChoice>(() => asChoice(addressValue('zone')) ?? kept.value)

export function chooseZone(choice: ZoneChoice): void {
  kept.value = choice
  // a link that someone else opens says which zone it was
  setAddress({ zone: choice === 'network' ? '' : choice })
  try {
    localStorage.setItem(storageKey, choice)
  } catch {
    // as above
  }
}

const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone

export const networkZone = computed(() => config.value.timezone ?? 'UTC')

export const zoneOf = (choice: ZoneChoice): string =>
  choice === 'network' ? networkZone.value : choice === 'mine' ? ownZone : 'UTC'

/** The IANA name of the zone on show. */
export const zone = computed(() => zoneOf(zoneChoice.value))

/** Those that differ, so that a reader in Lagos is not asked which Lagos. */
export const differentChoices = computed(() =>
  zoneChoices.filter(
    (choice, at) => !zoneChoices.slice(0, at).some((other) => zoneOf(other) === zoneOf(choice)),
  ),
)

/** `Lagos, UTC+1`; `UTC`. */
export function zoneName(name: string, atMs: number): string {
  const offset = offsetText(atMs, name)
  const place = name.split('/').at(-1)?.replaceAll('_', ' ') ?? ''
  return name.includes('/') ? `${place}, ${offset}` : offset
}
