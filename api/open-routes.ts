/** Every route of `/v1`, each made of what it needs. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { catalogueFile } from '../operate/archive/archive-layout.ts'
import type { Expired } from '../operate/archive/open-expired.ts'
import { watchBatchIndex } from '../operate/proofs/batch-index.ts'
import { createCache } from '../runtime/cache.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import type { Logger } from '../runtime/log.ts'
import type { LevelNow } from '../runtime/nats/format-level.ts'
import type { Registry } from '../runtime/prometheus.ts'
import type { SecretBox } from '../runtime/secrets/seal-secret.ts'
import type { Retention } from '../schemas/retention.ts'
import { citeArchive } from './archive/cite-archive.ts'
import { serveArchive } from './archive/serve-archive.ts'
import { aqiScale } from './areas/aqi-scale.ts'
import { createAreaHistory } from './areas/area-history.ts'
import { keptMs, listAreas, showArea } from './areas/areas.ts'
import { listChanges } from './changes/list-changes.ts'
import type { ApiConfig } from './config.ts'
import type { Route } from './http/answer.ts'
import type { QueryStore } from './http/query-store.ts'
import { rateByNetwork } from './http/rate-by-network.ts'
import { openLogAfter } from './live/log-after.ts'
import { gapNamer } from './live/log-gap.ts'
import { createReadingTexts } from './live/reading-json.ts'
import { usualView } from './live/view.ts'
import type { Admission } from './open-admission.ts'
import type { Live } from './open-live.ts'
import { documentRoutes } from './openapi/docs.ts'
import { documented } from './openapi/documented.ts'
import { rootPointer } from './openapi/root.ts'
import { archiveAddress } from './proofs/network.ts'
import { onChainOf } from './proofs/on-chain.ts'
import { proofRoutes } from './proofs/proof-routes.ts'
import { listCorrections } from './readings/corrections.ts'
import { listReadings } from './readings/list-readings.ts'
import { listSensors } from './sensors/list-sensors.ts'
import { sensorStatus } from './sensors/sensor-status.ts'
import { showSensor } from './sensors/show-sensor.ts'
import { reportRoutes } from './statistics/report.ts'
import { statisticsRoutes } from './statistics/statistics.ts'
import { createStreamHub, type StreamHub } from './stream/hub.ts'
import { streamEvents } from './stream/stream.ts'
import { makeStreamToken } from './stream/stream-token.ts'
import { createBackTest } from './webhooks/back-test.ts'
import { openWebhooks } from './webhooks/open-webhooks.ts'

type Options = {
  readonly nc: NatsConnection
  readonly level: LevelNow
  readonly settings: ApiConfig
  readonly live: Live
  readonly admission: Admission
  readonly queryStore: QueryStore
  readonly expired: Expired
  readonly retention: () => Retention
  readonly box: () => Promise<SecretBox>
  readonly metrics: Registry
  readonly nowMs: () => number
  readonly log: Logger
}

export async function openRoutes(
  options: Options,
  opened: AsyncDisposableStack,
): Promise<{ readonly routes: readonly Route[]; readonly hub: StreamHub }> {
  const { nc, level, settings, live, admission, queryStore, box, metrics, nowMs, log } = options
  const { expired, retention } = options
  const { rules, progress, newest, picture, board, directory, network, tail } = live
  const keccak = await createKeccak()
  const batches = opened.use(await watchBatchIndex(nc, keccak))
  const texts = createReadingTexts(keccak, onChainOf(batches, nowMs))
  const logAfter = openLogAfter({ nc, network, tail })
  const archive = (): string | null =>
    archiveAddress({
      settings: settings.network,
      publicUrl: settings.proofs.publicUrl,
      hasArchive: existsSync(join(settings.archive.folder, catalogueFile)),
    })
  const gapOf = gapNamer({ batches, archive })
  const hub = opened.use(
    createStreamHub({
      picture,
      place: tail.end,
      textOf: (reading) => texts.textOf(reading, usualView),
      entryOf: board.get,
    }),
  )
  const { tierOf } = admission
  const allowInsecure = settings.allowInsecureWebhooks
  const webhooks = opened.use(
    await openWebhooks({
      nc,
      level,
      board,
      rules,
      directory,
      nowMs,
      allowInsecure,
      tierOf,
      box,
      backTest: createBackTest({
        nc,
        board,
        queryStore,
        retention,
        isFinal: (seq) => batches.standingOf(seq, nowMs()).status === 'anchored',
        nowMs,
      }),
    }),
  )
  const { corrections } = settings
  const keep = () => createCache({ forMs: keptMs, most: 2_000, nowMs })
  const keeps = { accounts: keep(), visitors: keep() }
  const statistics = {
    board,
    rules,
    directory,
    progress,
    keeps,
    queryStore,
    corrections,
    retention,
    nowMs,
  }
  const { requests: limit } = settings.archive
  const boundArchive = rateByNetwork({ limit, clockMs: () => performance.now() })
  const routes = documented([
    listSensors({ board, rules, directory, corrections, nowMs }),
    showSensor({ board, rules, nowMs }),
    sensorStatus({ board, rules, newest, queryStore, texts, nowMs }),
    listReadings({ board, rules, newest, queryStore, texts, corrections, nowMs }),
    listChanges({ log: logAfter, tail, gapOf, board, rules, directory, texts }),
    listCorrections(corrections),
    listAreas({ board, directory, nowMs }),
    showArea({
      board,
      directory,
      history: createAreaHistory({ progress, retention, nowMs }),
      retention,
      keeps: { accounts: keep(), visitors: keep() },
      queryStore,
      nowMs,
    }),
    ...statisticsRoutes(statistics),
    ...reportRoutes(statistics),
    ...(await proofRoutes({
      nc,
      keccak,
      log,
      nowMs,
      board,
      rules,
      newest,
      queryStore,
      index: batches,
      states: picture.states,
      level,
      settings: settings.proofs,
      network: settings.network,
      networkId: network,
      archive: settings.archive,
      expired,
      registry: metrics,
    })),
    aqiScale(),
    makeStreamToken(admission.tokens),
    streamEvents({ log: logAfter, gapOf, hub, board, rules, directory, texts, logger: log }),
    ...webhooks.routes,
    admission.usage,
    citeArchive({
      settings: settings.archive,
      network: settings.network,
      publicUrl: settings.proofs.publicUrl,
      bound: boundArchive,
    }),
    serveArchive({ settings: settings.archive, bound: boundArchive }),
    rootPointer(),
    ...documentRoutes(rules.prefix),
  ])
  return { routes, hub }
}
