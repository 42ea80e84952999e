/** The colours of the index: EPA's own, or the one for people who see colours differently. */
import { signal } from '@preact/signals'
import { type UsCategory, usBands } from '../../../core/air/index/us-bands.ts'

export type Palette = 'epa' | 'vision'

const kept = 'airproof.palette'

const remembered = (): Palette => {
  try {
    return localStorage.getItem(kept) === 'vision' ? 'vision' : 'epa'
  } catch {
    // storage may be forbidden; the page goes on without a memory
    return 'epa'
  }
}

export const palette = signal<Palette>(remembered())

export function choosePalette(name: Palette): void {
  palette.value = name
  try {
    localStorage.setItem(kept, name)
  } catch {
    // as above
  }
}

/** The colour of a category under the palette that is chosen now. */
export function colorOf(category: UsCategory): string {
  const band = usBands.find((one) => one.category === category)
  return (palette.value === 'vision' ? band?.colorVision : band?.color) ?? '#888888'
}
