/**
 * The whole of `airproof up` under load while its processes are killed in turn, each without
 * warning: every acknowledged reading is stored once, in order, numbered without a gap; every
 * delivery is made; the audit is green. Only the chain is left alive: it belongs to others.
 */
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { codeOf } from '../../runtime/exit.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { untilDelivered, watchBy } from '../support/chaos/deliveries.ts'
import { expectStored } from '../support/chaos/expect-stored.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { startSensors } from '../support/chaos/sensors.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { runCommand } from '../support/run-command.ts'
import { runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const victims = ['pipeline', 'nats-server', 'api', 'notifier', 'gate', 'anchor', 'dashboard']
const watchedPerKind = 5

test('whatever is killed under load, nothing is lost, doubled or reordered, and every delivery is made', async () => {
  const soak = inject('soak')
  const [sensorCount, kills] = soak ? [240, 200] : [60, victims.length]
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  await using resources = new AsyncDisposableStack()
  const env = { AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1', ANCHOR_INTERVAL: '2s' }
  const { instance } = resources.use(await runCity(data, { env }))
  const { user = '', password = '' } = instance.nats_operator ?? {}
  const nc = await connectNats(
    { natsUrl: instance.nats, natsLogin: { user, password } },
    { name: 'test' },
  )
  resources.defer(() => nc.close())
  const ids = cityOf(sensorCount)
  await registerCity(nc, ids)
  const receiver = resources.use(await startReceiver())
  const watched = {
    'reading.new': ids.slice(0, watchedPerKind),
    'aqi.high': ids.slice(watchedPerKind, 2 * watchedPerKind),
  } as const
  await watchBy(instance, receiver, watched)

  // 500 readings a second in the long form
  const sensors = startSensors(nc, { ids, random: seeded(9), everyMs: 400, isLive: true })
  const beganMs = performance.now()
  for (let kill = 0; kill < kills; kill++) {
    const victim = victims[kill % victims.length] ?? ''
    // `up` gives up a pipeline or a server that ends five times within a minute: not so fast
    const enough = sensors.acknowledged.length + 5 * sensorCount
    await eventually('sensors go on', () => sensors.acknowledged.length >= enough)
    const pid = await eventually(`${victim} runs and is killed`, () => killed(pidOf(data, victim)))
    await eventually(`${victim} runs again`, () => (pidOf(data, victim) ?? pid) !== pid)
  }
  await sensors.stop()
  const seconds = (performance.now() - beganMs) / 1_000
  const sent = sensors.acknowledged

  await using store = await checkedSqlite(data).open()
  const rows = await untilStored(store, sent.length)
  expectStored(rows, sent)

  const delivered = await untilDelivered(receiver, watched, sent)

  const report = await eventually(
    'all is anchored, and the audit is green',
    async () => {
      const { code, out } = await runCommand(auditCommand, {
        flags: { data, json: true },
        env,
      })
      const { rows: counted } = JSON.parse(out) as { rows: { fit: number; not_anchored: number } }
      return code === 0 && counted.not_anchored === 0 && counted
    },
    { withinMs: 300_000, everyMs: 2_000 },
  )
  expect(report.fit).toBe(sent.length)
  printFigures('kill anything', {
    kills,
    readings: sent.length,
    perSecond: Math.round(sent.length / seconds),
    ...delivered,
    anchored: report.fit,
  })
}, 5_400_000)

/** The pid, if there was such a process: one that has just ended by itself is started again. */
function killed(pid: number | undefined): number | undefined {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    return pid
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return undefined
    throw error
  }
}

const pidOf = (data: string, name: string): number | undefined =>
  readRunningInstance(data)?.pids[name]
