/** What the pages Keys and Operator request of this server in addition to `/data/v1`. */
import type { NatsConnection } from '@nats-io/transport-node'
import { sensorIdRules } from '../../../core/air/sensor-id.ts'
import type { AccountBook } from '../../../operate/account-book.ts'
import { openRegistry } from '../../../operate/sensor-registry.ts'
import { watchSensors } from '../../../runtime/nats/buckets/packed-bucket.ts'
import { type WatchedBucket, watchBucket } from '../../../runtime/nats/buckets/watched-bucket.ts'
import { parseAnySensor } from '../../../schemas/devices/registered-sensor.ts'
import type { SensorEntry } from '../../../schemas/devices/sensor.ts'
import type { Account, KeyRecord } from '../../../schemas/people/account.ts'
import { buckets } from '../../../schemas/subjects.ts'
import type { DashboardRoute } from '../route.ts'
import type { WriteAudit } from './audit.ts'
import { keyRoutes, keysOfAccount } from './key-routes.ts'
import { operatorAccountRoutes } from './operator-accounts.ts'
import { operatorImportRoute } from './operator-import.ts'
import { operatorRejectedRoutes } from './operator-rejected.ts'
import { type LookSilence, operatorSensorRoutes } from './operator-sensors.ts'
import { operatorStatusRoutes } from './operator-status.ts'
import { sensorList } from './sensor-list.ts'
import { usageRoutes } from './usage-routes.ts'

type Options = {
  readonly nc: NatsConnection
  readonly book: AccountBook
  readonly accounts: WatchedBucket<Account>
  /** Bucket `keys`. */
  readonly keys: WatchedBucket<KeyRecord>
  readonly hashesOf: (account: string) => ReadonlySet<string>
  /** What every sensor id starts with. */
  readonly idPrefix: string
  /** One line for the log. */
  readonly onNotice: (line: string) => void
  readonly audit: WriteAudit
  readonly silence: LookSilence
  readonly nowMs: () => number
  /** Never goes back, in ms. */
  readonly clockMs: () => number
}

export async function openAccountApi({
  nc,
  book,
  accounts,
  keys,
  hashesOf,
  idPrefix,
  onNotice,
  audit,
  silence,
  nowMs,
  clockMs,
}: Options): Promise<AsyncDisposable & { readonly routes: readonly DashboardRoute[] }> {
  const rules = sensorIdRules(idPrefix)
  await using opened = new AsyncDisposableStack()
  const used = opened.use(await watchBucket(nc, buckets.used, timeOf))
  const bucket = opened.use(
    await watchSensors(
      nc,
      rules,
      (value, _rules, _key, isFine): SensorEntry | undefined =>
        parseAnySensor(value, rules, undefined, isFine) === undefined
          ? undefined
          : // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by entryFault
            (value as SensorEntry),
      onNotice,
    ),
  )
  const registry = await openRegistry(nc, rules)
  const entries = async (): Promise<(id: string) => SensorEntry | undefined> => {
    await bucket.barrier()
    return bucket.get
  }
  const sensors = sensorList({ nc, bucket, rules, clockMs })
  const routes = [
    ...keyRoutes({ book, keys, hashesOf, lastUsed: used.get, audit, nowMs, clockMs }),
    ...usageRoutes({ nc, keysOf: keysOfAccount({ keys, hashesOf }), nowMs, clockMs }),
    ...operatorStatusRoutes(nc),
    operatorImportRoute({ nc, registry, entries, idPrefix, audit, nowMs, clockMs }),
    ...operatorSensorRoutes({ nc, sensors, registry, audit, silence, nowMs }),
    ...operatorRejectedRoutes({ nc, audit }),
    ...operatorAccountRoutes({ book, accounts, audit }),
  ]
  const all = opened.move()
  return { routes, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Bucket `used`: ISO 8601. */
const timeOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined
