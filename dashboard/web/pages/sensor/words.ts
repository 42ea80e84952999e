import { namesOf } from '../../parts/air/quantity-names.ts'
import { texts } from '../../texts.ts'

const words = texts.quantities
const otherWords: Readonly<Record<string, string>> = words.flags

/** A flag of a reading's values, in words. */
export function wordsOfFlag(flag: string): string {
  const [, dropped] = /^dropped_(\w+)$/.exec(flag) ?? []
  if (dropped !== undefined) return words.dropped(namesOf(dropped).short)
  const [, unusual] = /^(\w+)_unusual$/.exec(flag) ?? []
  if (unusual !== undefined) return words.unusual(namesOf(unusual).short)
  return otherWords[flag] ?? flag
}
