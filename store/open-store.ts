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
      readonly org: string
      readonly bucket: string
    }

/** @param readOnly for a process that only asks; InfluxDB's token decides there */
export const openStore = (
  place: StorePlace,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<Store> =>
  place.kind === 'sqlite' ? openSqliteStore({ file: place.file, readOnly }) : openInfluxStore(place)
