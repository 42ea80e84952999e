/** A store as it is set, and its place as it is written down: without what opens it. */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

export type StoreSettings =
  | { readonly kind: 'sqlite'; readonly file: string }
  | {
      readonly kind: 'influx'
      readonly url: string
      readonly token: string
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

export function isPlace(value: unknown): value is StorePlace {
  const is = (...names: readonly string[]): boolean =>
    names.every((name) => typeof Reflect.get(Object(value), name) === 'string')
  const kind: unknown = Reflect.get(Object(value), 'kind')
  return (kind === 'sqlite' && is('file')) || (kind === 'influx' && is('url', 'org', 'bucket'))
}

/** Where one machine keeps its readings unless InfluxDB is named. */
export const sqliteFileIn = (dataFolder: string): string => join(dataFolder, 'readings.sqlite')
