/**
 * The entries of a packed bucket as values of one kind: made when they are asked for, of which the newest asked
 * for are kept.
 */
import { knownEntry } from '../../../schemas/bucket-entries.ts'
import { plainSensor } from '../../../schemas/devices/sensor.ts'
import { buckets, type ImagedBucket } from '../../../schemas/subjects.ts'
import type { PackedEntries } from './packed-entries.ts'
import type { Change, ParseEntry, WatchedBucket } from './watched-bucket.ts'

type PackedChange<T> = Change<T> & {
  /** What it was until now. */
  readonly before: T | undefined
}

export type BucketView<T> = Pick<WatchedBucket<T>, 'get' | 'entries'> & {
  /** As that of a `WatchedBucket`. */
  readonly onChange: (listener: (change: PackedChange<T>) => void) => () => void
  /** Those whose JSON may have a field of that name; a caller looks whether it has. */
  readonly entriesNaming: (field: string) => IterableIterator<[string, T]>
}

/** With the rows of its entries. */
export type RowView<T> = BucketView<T> & { readonly rows: EntryRows<T> }

/** A key keeps its row, a small number, for as long as the process lives: callers keep columns by it. */
export type EntryRows<T> = Pick<PackedEntries, 'find' | 'keyOf' | 'timeMsOf' | 'compareKeys'> & {
  readonly count: () => number
  /** As that of the view. */
  readonly get: (key: string) => T | undefined
  /** Made now, and not kept. */
  readonly make: (row: number) => T | undefined
}

/** Forgets the value of a key; what it returns reports the change, once the entry is the new one. */
export type BeforeChange = (key: string) => () => void

type ViewOptions<T> = {
  readonly bucket: ImagedBucket
  readonly entries: PackedEntries
  readonly parse: ParseEntry<T>
  /** It is the one whose `parse` decided which entries are fine. */
  readonly isMain: boolean
}

/**
 * A bucket of up to this many entries keeps the values that were asked for. A larger one keeps none: to look for a value
 * that is seldom kept only costs.
 */
const mostValues = 32_768

export function openView<T>({ bucket, entries, parse, isMain }: ViewOptions<T>): {
  readonly view: RowView<T>
  readonly beforeChange: BeforeChange
} {
  const values = new Map<string, T>()
  const listeners = new Set<(change: PackedChange<T>) => void>()
  const valueOf = (row: number): unknown => {
    if (bucket !== buckets.sensors) return undefined
    const values = entries.valuesOf(row, plainSensor.skeleton)
    return values && plainSensor.entryOf(values)
  }
  const make = (row: number): T | undefined => {
    const kind = entries.kindOf(row)
    if (kind === 'deleted' || (isMain && kind === 'refused')) return undefined
    const key = entries.keyOf(row)
    try {
      const value = valueOf(row) ?? knownEntry(bucket, key, JSON.parse(entries.textOf(row)))
      return parse(value, key, entries.timeMsOf(row), kind === 'fine')
    } catch {
      // it was reported when it arrived
      return undefined
    }
  }
  const get = (key: string): T | undefined => {
    const isKept = entries.rows <= mostValues
    const known = isKept ? values.get(key) : undefined
    if (known !== undefined) return known
    const row = entries.find(key)
    const value = row === -1 ? undefined : make(row)
    if (value === undefined) return undefined
    if (isKept) values.set(key, value)
    else if (values.size > 0) values.clear()
    return value
  }
  function* valuesOf(rows: Iterable<number>): IterableIterator<[string, T]> {
    for (const row of rows) {
      const value = make(row)
      if (value !== undefined) yield [entries.keyOf(row), value]
    }
  }
  function* allRows(): IterableIterator<number> {
    for (let row = 0; row < entries.rows; row++) yield row
  }
  return {
    view: {
      get,
      entries: () => valuesOf(allRows()),
      entriesNaming: (field) => valuesOf(entries.rowsNaming(field)),
      rows: {
        get,
        count: () => entries.rows,
        find: (key) => entries.find(key),
        keyOf: (row) => entries.keyOf(row),
        timeMsOf: (row) => entries.timeMsOf(row),
        compareKeys: (a, b) => entries.compareKeys(a, b),
        make,
      },
      onChange: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
    beforeChange: (key) => {
      const before = listeners.size === 0 ? undefined : get(key)
      values.delete(key)
      return () => {
        if (listeners.size === 0) return
        const value = get(key)
        for (const listener of listeners) listener({ key, value, before })
      }
    },
  }
}
