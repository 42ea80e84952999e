/**
 * The whole of `airproof up` under load while its processes are killed in turn, each without
 * warning: every acknowledged reading is stored once, in order, numbered without a gap; every
 * delivery is made; the audit is green. Only the chain is left alive: it belongs to others.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { nOfSeq, partitionOfSeq, type Reading } from '../../core/air/reading.ts'
import { type Values, valuesOf } from '../../core/air/values.ts'
import { cross, someInside } from '../../core/state/crossing.ts'
import { codeOf } from '../../runtime/exit.ts'
import {
  type RunningInstance,
  readRunningInstance,
} from '../../runtime/machine/running-instance.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { type SentReading, startSensors } from '../support/chaos/sensors.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { runCommand } from '../support/run-command.ts'
import { runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const victims = ['pipeline', 'nats-server', 'api', 'notifier', 'gate', 'anchor', 'dashboard']
/** The index above which the webhooks of the second kind are sent. */
const threshold = 150
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
  for (const sensor of watched['reading.new'])
    await createWebhook(instance, receiver.url, 'reading.new', { sensor_id: sensor })
  for (const sensor of watched['aqi.high']) {
    const filters = { sensor_id: sensor, aqi_threshold: threshold }
    await createWebhook(instance, receiver.url, 'aqi.high', filters)
  }

  // 500 readings a second in the long form
  const sensors = startSensors(nc, { ids, random: seeded(9), everyMs: 400, isLive: true })
  const beganMs = performance.now()
  for (let kill = 0; kill < kills; kill++) {
    const victim = victims[kill % victims.length] ?? ''
    // `up` gives up a pipeline or a server that ends five times within a minute: not so fast
    const enough = sensors.acknowledged.length + 5 * sensorCount
    await eventually('sensors go on', () => sensors.acknowledged.length >= enough, {
      withinMs: 120_000,
    })
    const pid = await eventually(
      `${victim} runs and is killed`,
      () => killed(pidOf(data, victim)),
      {
        withinMs: 120_000,
      },
    )
    await eventually(`${victim} runs again`, () => (pidOf(data, victim) ?? pid) !== pid, {
      withinMs: 120_000,
    })
  }
  await sensors.stop()
  const seconds = (performance.now() - beganMs) / 1_000
  const sent = sensors.acknowledged

  await using store = await checkedSqlite(data).open()
  const rows = await untilStored(store, sent.length, 900_000)
  expect(rows.map((row) => textOf(row, row.values)).toSorted()).toEqual(
    sent.map((one) => textOf(one, valuesOf(one.values))).toSorted(),
  )
  for (const ofPartition of Map.groupBy(rows, ({ seq }) => partitionOfSeq(seq)).values()) {
    const numbers = ofPartition.map(({ seq }) => nOfSeq(seq)).toSorted((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  }
  for (const ofSensor of Map.groupBy(rows, ({ sensor }) => sensor).values()) {
    const bySeq = ofSensor.toSorted((a, b) => a.seq - b.seq).map(({ timeMs }) => timeMs)
    expect(bySeq).toEqual(bySeq.toSorted((a, b) => a - b))
  }

  const expected = [
    ...sent
      .filter(({ sensor }) => watched['reading.new'].includes(sensor))
      .map((reading) => deliveryOf('reading.new', reading)),
    ...watched['aqi.high'].flatMap((id) =>
      rises(sent.filter(({ sensor }) => sensor === id)).map((one) => deliveryOf('aqi.high', one)),
    ),
  ].toSorted()
  const arrived = () => new Set(receiver.received.map(({ id }) => id)).size
  await eventually(`${expected.length} deliveries arrive`, () => arrived() >= expected.length, {
    withinMs: 300_000,
  })
  const bodies = Map.groupBy(receiver.received, ({ id }) => id)
  expect(bodies.size).toBe(expected.length)
  const delivered: string[] = []
  for (const same of bodies.values()) {
    const digests = new Set(same.map(({ body }) => createHash('sha256').update(body).digest('hex')))
    expect(digests.size).toBe(1)
    const [first] = same
    if (first === undefined) continue
    const { event, timestamp, data } = first.json
    delivered.push(`${event} ${String(data['sensor_id'])} ${Date.parse(timestamp)}`)
  }
  expect(delivered.toSorted()).toEqual(expected)

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
    deliveries: expected.length,
    repeats: receiver.received.length - expected.length,
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

async function createWebhook(
  { api, key }: RunningInstance,
  url: string,
  event: string,
  filters: object,
): Promise<void> {
  const response = await fetch(`${api}/v1/webhooks`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({ url, events: [event], filters }),
  })
  if (response.status !== 201) throw new Error(await response.text())
  await response.body?.cancel()
}

const deliveryOf = (event: string, { sensor, timeMs }: SentReading): string =>
  `${event} ${sensor} ${timeMs}`

const textOf = ({ sensor, timeMs }: SentReading | Reading, values: Values): string =>
  [sensor, timeMs, ...values].join(' ')

/** Those of one sensor's readings, in order, whose index rose above the threshold. */
function rises(readings: readonly SentReading[]): readonly SentReading[] {
  let firedBelow = 0
  let previous: number | null = null
  return readings.filter(({ values }) => {
    const aqi = usAqiOf(values.pm25 ?? null, values.pm10 ?? null)
    if (aqi === null) return false
    const crossed = cross(firedBelow, previous, aqi)
    firedBelow = crossed.firedBelow
    previous = aqi
    return someInside([threshold], crossed.from, crossed.to)
  })
}
