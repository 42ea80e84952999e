import { openInfluxStore } from './influx/influx.ts'
import { openSqliteStore } from './sqlite/sqlite.ts'
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

export const openStore = (
  place: StorePlace,
  { readOnly = false, onNotice }: OpenOptions = {},
): Promise<Store> =>
  place.kind === 'sqlite'
    ? openSqliteStore({ file: place.file, readOnly, onNotice })
    : openInfluxStore(place)
