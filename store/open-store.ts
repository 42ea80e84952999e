import type { Store } from './store.ts'

/** Which engine, and where. */
export type StorePlace =
  | { readonly kind: 'sqlite'; readonly file: string }
  | {
      readonly kind: 'influx'
      readonly url: string
      readonly token: string
      readonly tokenNow?: () => string
      readonly org: string
      readonly bucket: string
    }

type OpenOptions = {
  /** For a process that only asks; InfluxDB's token decides there. */
  readonly readOnly?: boolean
  /** Receives what is done to a file of an earlier version, in lines. */
  readonly onNotice?: (line: string) => void
}

/** Loads only the engine that it opens. */
export const openStore = async (
  place: StorePlace,
  { readOnly = false, onNotice }: OpenOptions = {},
): Promise<Store> =>
  place.kind === 'sqlite'
    ? (await import('./sqlite/sqlite.ts')).openSqliteStore({ file: place.file, readOnly, onNotice })
    : (await import('./influx/influx.ts')).openInfluxStore(place)
