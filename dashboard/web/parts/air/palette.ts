/** The colours of the index: EPA's own, or those for people who see colours differently. */
import { signal } from '@preact/signals'
import { type UsCategory, usBands } from '../../../../core/air/index/us-bands.ts'

export type Palette = 'epa' | 'vision'

const storageKey = 'airproof.palette'

const remembered = (): Palette => {
  try {
    return localStorage.getItem(storageKey) === 'vision' ? 'vision' : 'epa'
  } catch {
    // storage may be forbidden; the choice is then not remembered
    return 'epa'
  }
}

export const palette = signal<Palette>(remembered())

export function choosePalette(name: Palette): void {
  palette.value = name
  try {
    localStorage.setItem(storageKey, name)
  } catch {
    // as above
  }
}

/** The colour of a category in the chosen palette. */
export function colorOf(category: UsCategory): string {
  const band = usBands.find((known) => known.category === category)
  return (palette.value === 'vision' ? band?.colorVision : band?.color) ?? '#888888'
}
