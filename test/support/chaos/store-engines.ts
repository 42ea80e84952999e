/** The engines a check runs on, each with a way to make its writes fail. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Environment } from '../../../runtime/settings.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite.ts'
import type { Store } from '../../../store/store.ts'
import { testInflux } from '../influx.ts'
import { type FaultyProxy, openFaultyProxy } from './faulty-proxy.ts'

export type CheckedStore = AsyncDisposable & {
  /** The environment that a pipeline process needs. */
  readonly env: Environment
  /** A separate reader, which bypasses the failures. */
  readonly open: () => Promise<Store>
  /** No write succeeds until the returned function is called. */
  readonly stall: () => () => void
}

export type CheckedInflux = CheckedStore & { readonly proxy: FaultyProxy }

/** @param dataFolder of the pipeline: the file is there */
export function checkedSqlite(dataFolder: string): CheckedStore {
  const file = join(dataFolder, 'readings.sqlite')
  return {
    env: {},
    open: () => openSqliteStore({ file, readOnly: true }),
    stall: () => {
      const db = new DatabaseSync(file, { timeout: 5_000 })
      db.exec('begin immediate')
      return () => {
        db.exec('rollback')
        db.close()
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** @param isDirect the pipeline writes to the server itself: the proxy would cost time */
export async function checkedInflux({ isDirect = false } = {}): Promise<CheckedInflux> {
  await using opening = new AsyncDisposableStack()
  const influx = opening.use(await testInflux())
  const { bucket, org, token, open } = await influx.newBucket()
  const proxy = opening.use(await openFaultyProxy(influx.url))
  const resources = opening.move()
  return {
    proxy,
    env: {
      INFLUX_URL: isDirect ? influx.url : proxy.url,
      INFLUX_TOKEN: token,
      INFLUX_ORG: org,
      INFLUX_BUCKET: bucket,
    },
    open,
    stall: () => {
      proxy.decide(() => 'refuse')
      return () => proxy.decide(() => 'pass')
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
