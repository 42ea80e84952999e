import { sensorIdRules } from '../core/air/sensor-id.ts'
import { openTlsFiles } from '../runtime/http/tls-files.ts'
import { openMetrics } from '../runtime/metrics.ts'
import { watchSensors } from '../runtime/nats/buckets/packed-bucket.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openAdmin } from '../runtime/process/admin.ts'
import { openInstance } from '../runtime/process/instance-id.ts'
import { joinInstance } from '../runtime/process/join-instance.ts'
import { tryAgainIfAway } from '../runtime/process/process.ts'
import { stopped } from '../runtime/process/stop-signal.ts'
import { parseSensor } from '../schemas/devices/registered-sensor.ts'
import { answerAccess } from './answer-access.ts'
import { readGateConfig } from './config.ts'
import { openApplicationBook, openCredentialBook } from './credential-book.ts'
import { imageCredentials } from './image-credentials.ts'
import { inputGuard } from './input-guard.ts'
import { gateMetrics } from './metrics.ts'
import { openCallout } from './open-callout.ts'
import { openPush } from './push/open-push.ts'
import { openSeenBook } from './seen-book.ts'
import { openTopics } from './topics/open-topics.ts'

export const run = tryAgainIfAway(async ({ config, env, flags, log, stop }) => {
  await using opened = new AsyncDisposableStack()
  const { callout, push } = readGateConfig({ env, flags })
  const nc = await connectNats(config, { name: 'gate', log, stop })
  opened.defer(() => nc.close())
  const { id: holder, worker } = openInstance(config.dataFolder, 'gate')
  const level = opened.use(await joinInstance(nc, { ...config, name: 'gate', id: worker }))
  const registry = openMetrics('gate')
  const metrics = gateMetrics(registry)
  const guard = inputGuard({ count: (loop) => metrics.failed.inc({ loop }), log })
  const rules = sensorIdRules(config.idPrefix)
  const onNotice = (line: string): void => log.info(line)
  const sensors = opened.use(await watchSensors(nc, rules, parseSensor, onNotice))
  const book = opened.use(await openCredentialBook(nc, { onNotice }))
  const applications = opened.use(await openApplicationBook(nc))
  const seen = opened.use(
    await openSeenBook(nc, {
      onFailure: (error) => log.debug({ err: error }, 'what was seen is written later'),
    }),
  )
  opened.use(await answerAccess(nc, book))
  opened.use(await imageCredentials(nc, { held: book.held, holder, log, stop }))
  metrics.known({ credentials: book.size, sensors: sensors.size })
  opened.use(await openTopics({ nc, sensors, holder, guard, log, metrics: registry }))
  let pausedForMs = (_id: string): number => 0
  if (callout === undefined) log.info('this NATS lets its sensors in itself: no sign-ins here')
  else {
    const known = { rules, sensors, book, applications, seen }
    const options = { nc, config, callout, ...known, metrics, holder, guard, log, stop }
    pausedForMs = opened.use(await openCallout(options)).pausedForMs
  }
  const { dataFolder, earliestMs } = config
  const judging = { nc, book, applications, sensors, seen, dataFolder, earliestMs }
  const tls = openTlsFiles({ env, flags })
  if (tls) opened.use(tls)
  opened.use(await openPush({ ...push, ...judging, level, pausedForMs, tls, registry, guard, log }))
  opened.use(
    await openAdmin({
      ...config.admin,
      metrics: registry,
      ready: [{ name: 'nats', check: async () => void (await nc.rtt()) }],
    }),
  )
  await stopped(stop)
})
