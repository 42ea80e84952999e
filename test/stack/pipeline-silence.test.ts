/** Sensors fall silent and speak again; what it costs for 100,000 of them is in the benchmarks. */
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, inject, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { type CopiedEvent, readEvents } from '../support/chaos/read-events.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { type Sensors, startSensors } from '../support/chaos/sensors.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const scale = inject('soak') ? 5 : 1
/** Three missed are silence: 6 s. */
const cadenceSeconds = 2
const everyMs = 500

const presence = (copied: readonly CopiedEvent[], sensor: SensorId): string =>
  copied
    .filter(({ event }) => event.sensor_id === sensor && ['online', 'offline'].includes(event.kind))
    .map(({ event }) => event.kind)
    .join(' ')

const untilPresence = (
  nc: NatsConnection,
  ids: readonly SensorId[],
  expected: string,
): Promise<readonly CopiedEvent[]> =>
  eventually(
    `${ids.length} sensors went ${expected}`,
    async () => {
      const copied = await readEvents(nc)
      return ids.every((id) => presence(copied, id) === expected) && copied
    },
    { everyMs: 250 },
  )

test('each silence is reported once, offline and online, also across a restart', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const ids = cityOf(100 * scale)
  // fewer than half, or it would be a storm
  const resting = ids.slice(0, 20 * scale)
  const leaving = ids.slice(20 * scale, 35 * scale)
  const staying = ids.slice(35 * scale)
  await registerCity(nc, ids, { cadenceSeconds })
  const random = seeded(6)
  const speak = (group: readonly SensorId[]): Sensors => {
    const sensors = startSensors(nc, { ids: group, random, everyMs, isLive: true })
    resources.defer(() => sensors.stop())
    return sensors
  }
  const start = async () => {
    const pipeline = resources.use(
      await startPipeline({ natsUrl: nats.url, dataFolder: folder.path }),
    )
    await pipeline.untilReady()
    return pipeline
  }

  const first = await start()
  speak(staying)
  const rested = speak(resting)
  const left = speak(leaving)
  await untilPresence(nc, ids, 'online')
  await rested.stop()
  await untilPresence(nc, resting, 'online offline')
  speak(resting)
  await untilPresence(nc, resting, 'online offline online')

  // these fall silent, and the pipeline dies before it can have noticed
  await left.stop()
  first.kill('SIGKILL')
  await first.exited
  const downMs = performance.now()
  const second = await start()
  await untilPresence(nc, leaving, 'online offline')
  speak(leaving)
  await untilPresence(nc, leaving, 'online offline online')
  // a process that goes in order tells nothing either
  await second.stop()
  await start()
  const lateness = performance.now() - downMs
  const fresh = speak(cityOf(100 * scale).slice(0, 5))
  await eventually('it judges again', () => fresh.acknowledged.length >= 25)
  const copied = await readEvents(nc)
  expect(staying.filter((id) => presence(copied, id) !== 'online')).toEqual([])
  expect(resting.filter((id) => presence(copied, id) !== 'online offline online')).toEqual([])
  expect(leaving.filter((id) => presence(copied, id) !== 'online offline online')).toEqual([])
  printFigures('6 silence', {
    sensors: ids.length,
    silences: resting.length + leaving.length,
    events: copied.length,
    acrossRestartMs: Math.round(lateness),
  })
})
