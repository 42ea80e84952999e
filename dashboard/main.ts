import { longestTarget } from '../core/access/request-target.ts'
import { isDemonstrationChain } from '../core/proof/demonstration-chain.ts'
import { openAccountBook } from '../operate/account-book.ts'
import { clientNetwork } from '../runtime/http/client-network.ts'
import { usualConnections } from '../runtime/http/connection-bounds.ts'
import { startHttpServer } from '../runtime/http/http-server.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { indexByAccount } from '../runtime/nats/buckets/index-by-account.ts'
import { watchBucket, watchChecked } from '../runtime/nats/buckets/watched-bucket.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { openSecretBox } from '../runtime/secrets/secret-key.ts'
import {
  type AnyDeployment,
  parseDeploymentAt,
  placeOfDeployment,
} from '../schemas/anchoring/deployments.ts'
import type { Account, KeyRecord } from '../schemas/people/account.ts'
import { buckets } from '../schemas/subjects.ts'
import { parseWebhook } from '../schemas/webhooks/webhook.ts'
import { readDashboardConfig } from './config.ts'
import { openMailing } from './open-mailing.ts'
import { aboutRoutes } from './server/about.ts'
import { openAccountApi } from './server/account-api/account-api.ts'
import { openAudit } from './server/account-api/audit.ts'
import type { LookSilence } from './server/account-api/operator-sensors.ts'
import { createApp } from './server/app.ts'
import { openCityMap } from './server/city-map.ts'
import { dataProxy } from './server/data-proxy.ts'
import { eventCatalogue } from './server/event-catalogue.ts'
import { openInternalKey } from './server/internal-key.ts'
import { chooseLanguage, keepLanguage } from './server/language.ts'
import { me, pageConfig } from './server/me.ts'
import { countRequests } from './server/metrics.ts'
import { networkRoute } from './server/network.ts'
import { openHoldings } from './server/people/holdings.ts'
import { openPeople } from './server/people/open-people.ts'
import { askApi } from './server/places/ask-api.ts'
import { openDraw } from './server/places/draw.ts'
import { placeRoutes } from './server/places/place-routes.ts'
import { openPlaces } from './server/places/places.ts'
import { placeViews } from './server/places/views.ts'
import { qrCodes } from './server/qr-codes.ts'
import { openSessions } from './server/sessions.ts'
import { views } from './server/views.ts'
import { openWebFiles, sendShell } from './server/web-files.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  const settings = readDashboardConfig({ env, flags }, config.dataFolder)
  const { publicUrl, proxies, apiUrl, network } = settings
  const files = openWebFiles(settings.pages)
  const cityMap = await openCityMap(settings.map, network.box, config.dataFolder)
  await using opened = new AsyncDisposableStack()
  const nowMs = Date.now
  const clockMs = (): number => performance.now()
  const onFailure = (error: unknown): void => log.warn({ err: error }, 'NATS did not take it yet')

  const nc = await connectNats(config, { name: 'dashboard', log, stop })
  opened.defer(() => nc.close())
  opened.use(await joinInstance(nc, { ...config, name: 'dashboard' }))
  const book = await openAccountBook(nc)
  const accounts = opened.use(await watchChecked<Account>(nc, buckets.accounts))
  const sessions = opened.use(await openSessions({ nc, findAccount: accounts.get, nowMs }))
  const internalKey = opened.use(await openInternalKey({ nc, keys: book.keys, nowMs, onFailure }))
  const keys = opened.use(await watchChecked<KeyRecord>(nc, buckets.keys))
  const hashesOf = indexByAccount(keys)
  const webhooks = opened.use(await watchBucket(nc, buckets.webhooks, ownerOf))
  // it shows which chain it is, and decides nothing
  const deployments = opened.use(
    await watchBucket(nc, buckets.anchoring, deploymentOf, { isReadOnly: true }),
  )
  const audit = openAudit(nc, { proxies, nowMs })
  const { idPrefix } = config
  const places = openPlaces({
    nc,
    ask: askApi({ apiUrl, key: internalKey.current }),
    city: network.name,
    timezone: network.timezone,
    nowMs,
    onFailure: (error) => log.debug({ err: error }, 'the API did not say how the air is'),
  })
  const silence: LookSilence = (ctx, id) => places.silence(id, clientNetwork(ctx.req, proxies))
  const onNotice = (line: string): void => log.info(line)
  const known = { nc, book, accounts, keys, hashesOf, idPrefix, audit, silence, nowMs, clockMs }
  const accountApi = opened.use(await openAccountApi({ ...known, onNotice }))
  const metrics = openMetrics('dashboard')
  const box = await openSecretBox(nc, { env, flags }, config.dataFolder)
  const mailing = { nc, book, box, settings, metrics, log, nowMs, onFailure }
  const mails = await openMailing(mailing, opened)
  const webhooksOf = indexByAccount(webhooks)
  const holdings = openHoldings({ nc, keys, hashesOf, webhooks, webhooksOf })
  const environment = { publicUrl, proxies, nowMs, clockMs }
  const people = await openPeople({
    nc,
    book,
    sessions,
    mails,
    box,
    audit,
    holdings,
    ...environment,
  })

  const { contact, licence, attribution } = settings
  const { tiles } = settings.map
  const tilesHost = tiles === undefined ? undefined : new URL(tiles).host
  const { language } = network
  const site = { api: settings.publicApiUrl, contact, licence, attribution, tilesHost, language }
  const draw = opened.use(openDraw({ nowMs }))
  const serveView = placeViews({
    places,
    shell: files.shell,
    publicUrl,
    network: network.name,
    proxies,
    send: sendShell,
  })

  const app = createApp({
    files,
    sessions,
    views,
    serveView,
    publicUrl,
    tilesUrl: settings.map.tiles,
    site,
    log,
    observe: countRequests(metrics),
    routes: [
      me,
      chooseLanguage(keepLanguage(book)),
      ...aboutRoutes(site),
      pageConfig({
        url: publicUrl,
        api: settings.publicApiUrl,
        contact: settings.contact,
        network: network.name,
        idPrefix: network.idPrefix,
        timezone: network.timezone,
        box: cityMap.box,
        map: cityMap.config,
        isDemonstration: () => {
          // all contracts of an instance are on one chain
          const [[, deployment] = []] = deployments.entries()
          return deployment !== undefined && isDemonstrationChain(deployment.chainId)
        },
      }),
      ...cityMap.routes,
      networkRoute({ apiUrl, nowMs }),
      eventCatalogue,
      ...qrCodes({ publicUrl, proxies, clockMs }),
      ...placeRoutes({ places, draw, publicUrl, proxies, clockMs }),
      ...people,
      ...accountApi.routes,
      ...dataProxy({ apiUrl, key: internalKey.current, proxies, clockMs, stop }),
    ],
  })
  const handle = app.callback()
  const server = opened.use(
    await startHttpServer({
      host: settings.host,
      port: settings.port,
      setting: 'AIRPROOF_DASHBOARD_PORT',
      // a browser opens up to six, and one address may be a school or a carrier's customers
      connections: { ...usualConnections, fromPublic: 2_000 },
      longestUrl: longestTarget,
      brokenBody: ({ code, message }) =>
        Buffer.from(JSON.stringify({ status: 'error', error: { code, message } })),
      listener: (request, response) => void handle(request, response),
    }),
  )
  opened.use(
    await openAdmin({
      ...config.admin,
      metrics,
      ready: [{ name: 'nats', check: async () => void (await nc.rtt()) }],
    }),
  )
  log.info({ url: server.url, people: publicUrl }, 'answering')
  await stopped(stop)
})

function deploymentOf(value: unknown, key: string): AnyDeployment | undefined {
  const place = placeOfDeployment(key)
  return place === undefined ? undefined : parseDeploymentAt(place, value)
}

/** Of a webhook, all that this process keeps in memory. */
function ownerOf(value: unknown): { readonly account: string } | undefined {
  const webhook = parseWebhook(value)
  return webhook && { account: webhook.account }
}
