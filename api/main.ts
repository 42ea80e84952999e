import { secondMs } from '../core/time.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { assertKeptStore } from '../runtime/process/kept-store.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { openSecretBox } from '../runtime/secrets/secret-key.ts'
import { readApiConfig } from './config.ts'
import { openAdmission } from './open-admission.ts'
import { openHistory } from './open-history.ts'
import { openLive } from './open-live.ts'
import { openRoutes } from './open-routes.ts'
import { openServer } from './open-server.ts'
import { openWhenNeeded } from './webhooks/secrets.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  await using opened = new AsyncDisposableStack()
  const settings = readApiConfig({ env, flags }, config.dataFolder)
  const { network, limits } = settings
  const nowMs = Date.now

  const nc = await connectNats(config, { name: 'api', log, stop })
  opened.defer(() => nc.close())
  const level = opened.use(await joinInstance(nc, { ...config, name: 'api' }))
  await assertKeptStore(nc, config)
  const { folder } = settings.archive
  const history = await openHistory({ nc, config: config.store, folder }, opened)
  const { store, retention } = history
  const metrics = openMetrics('api')
  const box = openWhenNeeded(() => openSecretBox(nc, { env, flags }, config.dataFolder))
  const admission = await openAdmission({ nc, limits, box, metrics, nowMs, log }, opened)
  const naming = { idPrefix: config.idPrefix, networkName: network.name }
  const live = await openLive({ nc, store, retention, ...naming, nowMs, log }, opened)
  const shared = { nc, settings, live, admission, metrics, nowMs, log }
  const { routes, hub } = await openRoutes({ ...shared, ...history, level, box }, opened)
  const server = await openServer({ ...shared, routes, streams: hub.size }, opened)
  // before the server, which waits for answers under way: a stream does not end by itself
  opened.defer(hub.end)
  opened.use(
    await openAdmin({
      ...config.admin,
      metrics,
      ready: [
        { name: 'picture', check: () => assert(live.picture.isLive(), 'still reading the log') },
        {
          name: 'newest',
          check: () => assert(live.newest.isSeeded(), 'newest readings not read yet'),
        },
        { name: 'store', check: store.ping },
        { name: 'nats', check: () => assert(admission.staleMs() < staleTooLongMs, 'not heard') },
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
