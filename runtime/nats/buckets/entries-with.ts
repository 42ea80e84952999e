import type { BucketView } from './bucket-view.ts'

/**
 * The keys of the entries that have something that few have, as they change: so that it is not asked of the
 * entry of each reading.
 * @param field of the JSON, which no entry without it has
 */
export function entriesWith<T>(
  entries: Pick<BucketView<T>, 'entriesNaming' | 'onChange'>,
  field: string,
  has: (value: T) => boolean,
): ReadonlySet<string> {
  const keys = new Set<string>()
  const keep = (key: string, value: T | undefined): void => {
    if (value !== undefined && has(value)) keys.add(key)
    else keys.delete(key)
  }
  for (const [key, value] of entries.entriesNaming(field)) keep(key, value)
  entries.onChange(({ key, value }) => keep(key, value))
  return keys
}
