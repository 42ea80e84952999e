import type { Limits } from '../core/access/quota.ts'
import { sensorIdRules } from '../core/air/sensor-id.ts'
import { secondMs } from '../core/time.ts'
import { createRollupProgress, parseRollupRecord, rollupKey } from '../operate/rollup-progress.ts'
import { createKeccak } from '../runtime/keccak.ts'
import { createKeep } from '../runtime/keep.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { lastValues } from '../runtime/nats/last-values.ts'
import { countDropped, openMailQueue } from '../runtime/nats/mail-queue.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { needStreams } from '../runtime/nats/streams.ts'
import { watchBucket } from '../runtime/nats/watched-bucket.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { failureLog } from '../runtime/process/failure-log.ts'
import { assertKeptStore } from '../runtime/process/kept-store.ts'
import type { ProcessMain } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { openSecretBox } from '../runtime/secrets/secret-key.ts'
import { parseAnySensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { openStore } from '../store/open-store.ts'
import { createKeyGuard, parseKnownKey } from './access/key-guard.ts'
import { openKeyUses } from './access/key-uses.ts'
import { parseKnownAccount, type Tier } from './access/known-account.ts'
import { createAdmit } from './admit.ts'
import { countRequests } from './api-metrics.ts'
import { createApp } from './app.ts'
import { aqiScale } from './areas/aqi-scale.ts'
import { createAreaHistory } from './areas/area-history.ts'
import { keptMs, listAreas, showArea } from './areas/areas.ts'
import { readApiConfig } from './config.ts'
import { openAskStore } from './http/ask-store.ts'
import { openHttpServer } from './http-server.ts'
import { areaDirectory } from './live/area-directory.ts'
import { openLivePicture } from './live/live-picture.ts'
import { hearFrom } from './live/nats-heard.ts'
import { createNewestReadings } from './live/newest-readings.ts'
import { createReadingTexts } from './live/reading-texts.ts'
import { keepSeeding } from './live/seed-newest.ts'
import { createSensorBoard } from './live/sensor-board.ts'
import { docsPage, openApiDocument } from './openapi/docs.ts'
import { documented } from './openapi/documented.ts'
import { rootPointer } from './openapi/root.ts'
import { watchBatchIndex } from './proofs/batch-index-watch.ts'
import { onChainOf } from './proofs/on-chain.ts'
import { proofRoutes } from './proofs/proof-routes.ts'
import { openQuotaBucket } from './quota/bucket.ts'
import { createQuotaMails } from './quota/mails.ts'
import { createQuota } from './quota/quota.ts'
import { showUsage } from './quota/usage.ts'
import { listReadings } from './readings/list-readings.ts'
import { listSensors } from './sensors/list-sensors.ts'
import { sensorStatus } from './sensors/sensor-status.ts'
import { createStreamHub } from './stream/hub.ts'
import { streamEvents } from './stream/stream.ts'
import { openWebhooks } from './webhooks/open-webhooks.ts'
import { openWhenNeeded } from './webhooks/secrets.ts'

export const run: ProcessMain = async ({ config, env, flags, log, stop }) => {
  await using opened = new AsyncDisposableStack()
  const settings = readApiConfig({ env, flags })
  const { host, port, proxies, networkName, allowInsecureWebhooks, proofs, limits } = settings
  const nowMs = Date.now
  const rules = sensorIdRules(config.idPrefix)

  const nc = await connectNats(config, { name: 'api', log, stop })
  opened.defer(() => nc.close())
  await needStreams(nc, config)
  await assertKeptStore(nc, config)
  const store = opened.use(await openStore(config.store, { readOnly: true }))
  // lanes of their own: nothing that a visitor asks is before what an account asks
  const visitorsStore = opened.use(await openStore(config.store, { readOnly: true }))
  const askStore = openAskStore({ accounts: store, visitors: visitorsStore })
  const keys = opened.use(await watchBucket(nc, buckets.keys, parseKnownKey))
  const accounts = opened.use(await watchBucket(nc, buckets.accounts, parseKnownAccount))
  const whole = async (): Promise<void> => {
    await Promise.all([keys.barrier(), accounts.barrier()])
  }
  const heard = opened.use(await hearFrom({ barrier: whole }))
  const system = opened.use(
    await watchBucket(nc, buckets.system, (value, key) =>
      key === rollupKey ? parseRollupRecord(value) : undefined,
    ),
  )
  const sensors = opened.use(
    await watchBucket(nc, buckets.sensors, (value) => parseAnySensor(value, rules)),
  )

  const progress = createRollupProgress()
  progress.record(system.get(rollupKey))
  system.onChange(({ key, value }) => {
    if (key === rollupKey) progress.record(value)
  })
  const newest = createNewestReadings()
  const picture = opened.use(openLivePicture({ nc, newest, progress, log }))
  const board = createSensorBoard({ states: picture.states, nowMs, rules })
  for (const [key, sensor] of sensors.entries()) board.onRegistered(key, sensor)
  sensors.onChange(({ key, value }) => board.onRegistered(key, value))
  picture.onFolded(board.onFolded)
  opened.use(keepSeeding(newest, { store, picture, log }))

  const directory = remembered(board.registryVersion, () =>
    areaDirectory(
      board.ever().map(({ sensor }) => sensor),
      { networkName, idPrefix: config.idPrefix },
    ),
  )
  const keccak = await createKeccak()
  const batches = opened.use(await watchBatchIndex(nc, keccak))
  const texts = createReadingTexts(keccak, onChainOf(batches, nowMs))
  const metrics = openMetrics('api')
  const hub = opened.use(
    createStreamHub({ picture, textOf: (reading) => texts.textOf(reading, 'full') }),
  )
  const count = countRequests({
    registry: metrics,
    position: picture.position,
    unheardMs: heard.unheardMs,
    streams: hub.size,
  })

  const dropped = countDropped(metrics)
  const tierOf = (account: string): Tier | undefined => accounts.get(account)?.tier
  const box = openWhenNeeded(() => openSecretBox(nc, { env, flags }, config.dataFolder))
  const webhooks = opened.use(
    await openWebhooks({
      nc,
      board,
      rules,
      directory,
      nowMs,
      allowInsecure: allowInsecureWebhooks,
      tierOf,
      box,
    }),
  )

  const limitsOf = (account: string): Limits => limits[tierOf(account) ?? 'free']
  const quota = opened.use(
    createQuota({
      bucket: opened.use(await openQuotaBucket(nc)),
      limitsOf,
      nowMs,
      onCharged: createQuotaMails({
        send: async (id, mail) => openMailQueue(nc, await box(), dropped).send(id, mail),
        onFailed: (error) => log.warn({ err: error }, 'could not queue a mail about a quota'),
      }),
    }),
  )
  const uses = opened.use(await openKeyUses(nc, { nowMs }))

  const tellFailed = failureLog(log)
  const app = createApp({
    proxies,
    admit: createAdmit({
      guard: createKeyGuard({
        find: keys.get,
        hasAccount: (account) => accounts.get(account) !== undefined,
        unheardMs: heard.unheardMs,
        nowMs,
      }),
      quota,
      onUsed: uses.note,
    }),
    routes: documented([
      listSensors({ board, rules, directory }),
      sensorStatus({ board, rules, texts, nowMs }),
      listReadings({ board, rules, newest, askStore, texts }),
      listAreas({ board, directory }),
      showArea({
        board,
        directory,
        history: createAreaHistory({ progress, nowMs }),
        keeps: {
          accounts: createKeep({ forMs: keptMs, most: 2_000, nowMs }),
          visitors: createKeep({ forMs: keptMs, most: 2_000, nowMs }),
        },
        askStore,
        nowMs,
      }),
      ...(await proofRoutes({
        nc,
        index: batches,
        keccak,
        states: picture.states,
        settings: proofs,
        registry: metrics,
        log,
        nowMs,
        board,
        rules,
        newest,
        askStore,
      })),
      aqiScale(),
      streamEvents({ nc, hub, board, rules, directory, texts, log }),
      ...webhooks.routes,
      showUsage({
        tierOf,
        limitsOf,
        keys: keys.entries,
        read: (bucket, names) => lastValues(nc, bucket, names),
        nowMs,
      }),
      rootPointer(),
      openApiDocument(),
      docsPage(),
    ]),
    observe: (seen) => {
      count(seen)
      const { cause, ...told } = seen
      if (cause !== undefined) tellFailed({ ...told, err: cause })
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
  // before the server, which waits for answers under way: a stream has no end of its own
  opened.defer(hub.end)
  opened.use(
    await openAdmin({
      ...config.admin,
      metrics,
      ready: [
        { name: 'picture', check: () => assert(picture.isLive(), 'still reading the log') },
        { name: 'newest', check: () => assert(newest.isSeeded(), 'newest readings not read yet') },
        { name: 'store', check: store.ping },
        { name: 'nats', check: () => assert(heard.unheardMs() < unheardTooLongMs, 'not heard') },
      ],
    }),
  )
  log.info({ url: server.url }, 'answering')
  await stopped(stop)
}

const unheardTooLongMs = 2 * secondMs

function assert(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

/** What `make` gave, until `version` changes. */
function remembered<T>(version: () => number, make: () => T): () => T {
  let made: { readonly version: number; readonly value: T } | undefined
  return () => {
    if (made?.version !== version()) made = { version: version(), value: make() }
    return made.value
  }
}
