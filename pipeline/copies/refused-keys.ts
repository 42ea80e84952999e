import type { ReadingKey } from '../../core/air/reading.ts'
import type { RefusedKey } from '../../schemas/log/snapshot.ts'

/** The keys of rows that the store refused for good: no other reading may have them. */
export class RefusedKeys {
  readonly #keys = new Map<string, ReadingKey>()

  constructor(keys: readonly RefusedKey[]) {
    for (const [sensor, timeMs] of keys) this.add({ sensor, timeMs })
  }

  add({ sensor, timeMs }: ReadingKey): void {
    this.#keys.set(textOf({ sensor, timeMs }), { sensor, timeMs })
  }

  has(key: ReadingKey): boolean {
    return this.#keys.has(textOf(key))
  }

  values(): Iterable<ReadingKey> {
    return this.#keys.values()
  }
}

const textOf = ({ sensor, timeMs }: ReadingKey): string => `${sensor} ${timeMs}`
