import { openMetrics } from '../runtime/metrics.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { openSecretBox } from '../runtime/secrets/secret-key.ts'
import { readDashboardConfig } from './config.ts'
import { openAccounts } from './open-accounts.ts'
import { openMailing } from './open-mailing.ts'
import { openPlacePages } from './open-place-pages.ts'
import { openRoutes } from './open-routes.ts'
import { openServer } from './open-server.ts'
import { openCityMap } from './server/city-map.ts'
import { openInternalKey } from './server/internal-key.ts'
import { openWebFiles } from './server/web-files.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  const settings = readDashboardConfig({ env, flags }, config.dataFolder)
  const { contact, licence, attribution, network } = settings
  const files = openWebFiles(settings.pages)
  const cityMap = await openCityMap(settings.map, network.box, config.dataFolder)
  await using opened = new AsyncDisposableStack()
  const nowMs = Date.now
  const clockMs = (): number => performance.now()
  const onFailure = (error: unknown): void => log.warn({ err: error }, 'NATS did not take it yet')

  const nc = await connectNats(config, { name: 'dashboard', log, stop })
  opened.defer(() => nc.close())
  opened.use(await joinInstance(nc, { ...config, name: 'dashboard' }))
  const accounts = await openAccounts({ nc, nowMs }, opened)
  const { book, sessions } = accounts
  const internalKey = opened.use(await openInternalKey({ nc, keys: book.keys, nowMs, onFailure }))
  const metrics = openMetrics('dashboard')
  const box = await openSecretBox(nc, { env, flags }, config.dataFolder)
  const mailing = { nc, book, box, settings, metrics, log, nowMs, onFailure }
  const mails = await openMailing(mailing, opened)
  const asking = { nc, settings, key: internalKey.current, nowMs, clockMs, log }
  const placePages = openPlacePages({ ...asking, files }, opened)

  const { tiles } = settings.map
  const tilesHost = tiles === undefined ? undefined : new URL(tiles).host
  const { language } = network
  const site = { api: settings.publicApiUrl, contact, licence, attribution, tilesHost, language }
  const { idPrefix } = config
  const known = { ...accounts, ...asking, idPrefix, cityMap, placePages, mails, box, stop }
  const routes = await openRoutes({ ...known, site }, opened)
  const { serveView } = placePages
  const serving = { settings, site, files, sessions, routes, serveView, metrics, log }
  const server = await openServer(serving, opened)
  opened.use(
    await openAdmin({
      ...config.admin,
      metrics,
      ready: [{ name: 'nats', check: async () => void (await nc.rtt()) }],
    }),
  )
  log.info({ url: server.url, people: settings.publicUrl }, 'answering')
  await stopped(stop)
})
