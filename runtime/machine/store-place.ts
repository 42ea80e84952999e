/** A store's settings, and its place as it is recorded: without credentials. */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

export type StoreSettings =
  | { readonly kind: 'sqlite'; readonly file: string }
  | {
      readonly kind: 'influx'
      readonly url: string
      readonly token: string
      /** The same, as its file has it now. */
      readonly tokenNow?: () => string
      readonly org: string
      readonly bucket: string
    }

export type StorePlace =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'influx'; readonly url: string; readonly org: string; readonly bucket: string }

/** A URL may hold a password, and workers may reach one file by several links. */
export function placeOf(store: StoreSettings): StorePlace {
  if (store.kind === 'sqlite')
    return { kind: 'sqlite', file: existsSync(store.file) ? realpathSync(store.file) : store.file }
  const url = new URL(store.url)
  url.username = ''
  url.password = ''
  return { kind: 'influx', url: url.href, org: store.org, bucket: store.bucket }
}

export const placeInWords = (place: StorePlace): string =>
  place.kind === 'sqlite'
    ? `the SQLite file ${place.file}`
    : `the InfluxDB bucket ${place.bucket} of ${place.org} at ${place.url}`

/** What copies one store into another of another kind, for people. */
export const copyCommand = (from: StorePlace['kind'], to: StorePlace['kind']): string =>
  `airproof store copy --from ${from} --to ${to}`

type Fields = { readonly all: readonly string[]; readonly everywhere: readonly string[] }

/** Every field of a place, and those that are equal on any machine: paths and hosts may differ. */
const fieldsOf: Readonly<Record<StorePlace['kind'], Fields>> = {
  sqlite: { all: ['file'], everywhere: [] },
  influx: { all: ['url', 'org', 'bucket'], everywhere: ['org', 'bucket'] },
}

export function isPlace(value: unknown): value is StorePlace {
  const field = (name: string): unknown => Reflect.get(Object(value), name)
  const known = Object.entries(fieldsOf).find(([kind]) => kind === field('kind'))?.[1]
  return known?.all.every((name) => typeof field(name) === 'string') ?? false
}

/** Whether two places are the same store, as far as it can be seen from two machines. */
export const isSameStore = (a: StorePlace, b: StorePlace): boolean =>
  a.kind === b.kind &&
  fieldsOf[a.kind].everywhere.every((name) => Reflect.get(a, name) === Reflect.get(b, name))

/** Where a machine stores its readings unless InfluxDB is configured. */
export const sqliteFileIn = (dataFolder: string): string => join(dataFolder, 'readings.sqlite')
