import { secondMs } from '../core/time.ts'
import { openExpired } from '../operate/archive/open-expired.ts'
import { createDigest } from '../runtime/digest.ts'
import { createKeccak } from '../runtime/keccak.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { watchRetention } from '../runtime/nats/retention.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { failureLog } from '../runtime/process/failure-log.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { assertKeptStore } from '../runtime/process/kept-store.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { openSecretBox } from '../runtime/secrets/secret-key.ts'
import { openStore } from '../store/open-store.ts'
import { countRequests } from './api-metrics.ts'
import { createApp } from './app.ts'
import { readApiConfig } from './config.ts'
import { openQueryStore } from './http/query-store.ts'
import { openHttpServer } from './http-server.ts'
import { openAdmission } from './open-admission.ts'
import { openLive } from './open-live.ts'
import { openRoutes } from './open-routes.ts'
import { licences } from './sensors/licences.ts'
import { openWhenNeeded } from './webhooks/secrets.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  await using opened = new AsyncDisposableStack()
  const settings = readApiConfig({ env, flags }, config.dataFolder)
  const { host, port, proxies, network, limits, preflights } = settings
  const nowMs = Date.now

  const nc = await connectNats(config, { name: 'api', log, stop })
  opened.defer(() => nc.close())
  const level = opened.use(await joinInstance(nc, { ...config, name: 'api' }))
  await assertKeptStore(nc, config)
  const store = opened.use(await openStore(config.store, { readOnly: true }))
  // separate lanes: no query of a visitor is ahead of an account's
  const visitorsStore = opened.use(await openStore(config.store, { readOnly: true }))
  const retention = opened.use(await watchRetention(nc))
  const expired = openExpired({
    folder: settings.archive.folder,
    keccak: await createKeccak(),
    retention: retention.now,
    atOnce: 'batch',
  })
  const queryStore = openQueryStore({
    accounts: expired.store(store),
    visitors: expired.store(visitorsStore),
  })
  const metrics = openMetrics('api')
  const box = openWhenNeeded(() => openSecretBox(nc, { env, flags }, config.dataFolder))
  const admission = await openAdmission({ nc, limits, box, metrics, nowMs, log }, opened)
  const { idPrefix } = config
  const live = await openLive(
    { nc, store, retention: retention.now, idPrefix, networkName: network.name, nowMs, log },
    opened,
  )
  const shared = {
    nc,
    level,
    settings,
    live,
    admission,
    queryStore,
    expired,
    retention: retention.now,
  }
  const { routes, hub } = await openRoutes({ ...shared, box, metrics, nowMs, log }, opened)
  const { staleMs } = admission
  const { newest, picture, board } = live
  const count = countRequests({
    registry: metrics,
    position: picture.position,
    staleMs,
    streams: hub.size,
    sensors: () => board.inUse(),
  })
  const logFailure = failureLog(log)
  const app = createApp({
    proxies,
    preflights,
    admit: admission.admit,
    note: admission.note,
    routes,
    digest: await createDigest(),
    licenceOf: licences(live, network.licence),
    observe: (seen) => {
      count(seen)
      const { cause, ...answer } = seen
      if (cause !== undefined) logFailure({ ...answer, err: cause })
    },
  })
  const handle = app.callback()
  const server = opened.use(
    await openHttpServer({
      host,
      port,
      listener: (request, response) => void handle(request, response),
    }),
  )
  // before the server, which waits for answers under way: a stream does not end by itself
  opened.defer(hub.end)
  opened.use(
    await openAdmin({
      ...config.admin,
      metrics,
      ready: [
        { name: 'picture', check: () => assert(picture.isLive(), 'still reading the log') },
        { name: 'newest', check: () => assert(newest.isSeeded(), 'newest readings not read yet') },
        { name: 'store', check: store.ping },
        { name: 'nats', check: () => assert(staleMs() < staleTooLongMs, 'not heard') },
      ],
    }),
  )
  log.info({ url: server.url }, 'answering')
  await stopped(stop)
})

const staleTooLongMs = 2 * secondMs

function assert(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}
