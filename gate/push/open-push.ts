import type { NatsConnection } from '@nats-io/transport-node'
import { type HttpLimits, startHttpServer } from '../../runtime/http/http-server.ts'
import type { TlsFiles } from '../../runtime/http/tls-files.ts'
import type { Logger } from '../../runtime/log.ts'
import type { BucketView } from '../../runtime/nats/buckets/bucket-view.ts'
import { entriesWith } from '../../runtime/nats/buckets/entries-with.ts'
import type { LevelNow } from '../../runtime/nats/format-level.ts'
import type { Registry } from '../../runtime/prometheus.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { ApplicationBook, CredentialBook } from '../credential-book.ts'
import { indexDevices } from '../device-index.ts'
import type { InputGuard } from '../input-guard.ts'
import type { SeenBook } from '../seen-book.ts'
import { openSpentReporter } from '../spent.ts'
import { createAccept } from './accept.ts'
import { answerBulk } from './answer-bulk.ts'
import { bulkEndpoint } from './bulk-endpoint.ts'
import { createDeliver } from './deliver.ts'
import { deviceEndpoints } from './device-endpoints.ts'
import { floodGuard, ofApplication } from './flood.ts'
import { openRawPublisher } from './publish-raw.ts'
import { createPushApp, longestUrl } from './push-app.ts'
import { errorBody } from './push-error.ts'
import { pushMetrics } from './push-metrics.ts'
import { arrivalClock } from './raw-item.ts'
import { readingsEndpoint } from './readings-endpoint.ts'
import { drainSpool } from './spool-drain.ts'
import { openSpools } from './spools.ts'
import { uplinkEndpoints } from './uplink-endpoints.ts'

export type PushOptions = {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Absent: plain HTTP. */
  readonly tls?: TlsFiles | undefined
  readonly nc: NatsConnection
  readonly book: Pick<CredentialBook, 'check'>
  readonly applications: Pick<ApplicationBook, 'check' | 'get'>
  readonly sensors: Omit<BucketView<RegisteredSensor>, 'entries'>
  /**
   * Readings that wait for NATS are in its folder `push-spool`; a second gate has its own beside
   * it.
   */
  readonly dataFolder: string
  readonly spoolMaxBytes: number
  /** No reading is older than this, ms since the epoch. */
  readonly earliestMs: number
  readonly registry: Registry
  /** Where a sensor's last contact is noted. */
  readonly seen?: Pick<SeenBook, 'contacted' | 'refused'>
  /** How long a sensor that flooded over HTTP, NATS or MQTT must still wait; 0: it need not. */
  readonly pausedForMs: (sensor: string) => number
  readonly level: LevelNow
  readonly guard: InputGuard
  readonly log: Logger
  readonly limits?: HttpLimits
  /** Never goes back, in ms: floods are measured by it. */
  readonly clockMs?: () => number
}

export type Push = AsyncDisposable & { readonly url: string }

/**
 * Takes readings over HTTP, and sends what an earlier process left in its spool.
 * @throws MustAct the port is taken
 */
export async function openPush({
  nc,
  book,
  applications,
  sensors,
  dataFolder,
  spoolMaxBytes,
  earliestMs,
  registry,
  seen,
  pausedForMs,
  level,
  guard,
  log,
  clockMs = () => performance.now(),
  ...address
}: PushOptions): Promise<Push> {
  await using opened = new AsyncDisposableStack()
  const nowMs = Date.now
  const spools = opened.use(await openSpools(dataFolder, spoolMaxBytes))
  const { publish } = opened.use(openRawPublisher(nc, { log, guard }))
  for (const spool of spools.all) opened.use(drainSpool({ spool, publish, log }))

  const spent = opened.use(openSpentReporter(nc))
  const judging = { nowMs, earliestMs, arrival: arrivalClock(nowMs) }
  const withLimit = entriesWith(sensors, 'flood', (sensor) => sensor.flood !== undefined)
  const flood = floodGuard({
    limitOf: (sensor) => (withLimit.has(sensor) ? sensors.get(sensor)?.flood : undefined),
    pausedForMs,
    onSpent: spent.note,
    clockMs,
  })
  const ofApplications = { ...judging, applicationOf: applications.get, flood }
  const bulk = bulkEndpoint({ ...ofApplications, sensorOf: sensors.get, level })
  const floodOfApplication = floodGuard({
    limitOf: () => ofApplication,
    pausedForMs,
    onSpent: () => undefined,
    clockMs,
  })
  const observe = pushMetrics(registry, { spools: spools.all, nowMs })
  const accept = createAccept({
    deliver: createDeliver({ publish, spool: spools.own, log }),
    seen: seen && ofSensors(seen, sensors),
  })
  opened.use(
    answerBulk({
      nc,
      endpoint: bulk,
      accept,
      flood: floodOfApplication,
      observe,
      guard,
      log,
    }),
  )
  const app = createPushApp({
    endpoints: [
      readingsEndpoint({ ...judging, sensorOf: sensors.get }),
      ...deviceEndpoints({ ...judging, sensorOf: sensors.get }),
      ...uplinkEndpoints({ ...ofApplications, devices: indexDevices(sensors) }),
      bulk,
    ],
    check: (caller, { id, secret }) =>
      (caller === 'sensor' ? book : applications).check(id, secret),
    floods: { sensor: flood, application: floodOfApplication },
    accept,
    observe,
    seen: seen && ofSensors(seen, sensors),
    failed: guard.failed,
  })
  const handle = app.callback()
  const server = opened.use(
    await startHttpServer({
      ...address,
      setting: 'AIRPROOF_PUSH_PORT',
      listener: (request, response) => void handle(request, response),
      longestUrl,
      // one address of a mobile carrier has thousands of devices
      connections: { fromPublic: 5_000, fromInside: 5_000 },
      brokenBody: ({ code, message }, requestId) =>
        errorBody({ code, message, details: {} }, requestId),
    }),
  )
  log.info({ url: `${server.url}/push` }, 'taking pushes')
  const all = opened.move()
  return { url: server.url, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** A client without a credential may send any id, and must not fill the notes with them. */
const ofSensors = (
  { contacted, refused }: Pick<SeenBook, 'contacted' | 'refused'>,
  sensors: PushOptions['sensors'],
): Pick<SeenBook, 'contacted' | 'refused'> => ({
  contacted,
  refused: (id, reason) => {
    if (sensors.get(id) !== undefined) refused(id, reason)
  },
})
