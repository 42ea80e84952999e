/**
 * From the start of a process to all its partitions at work, with many sensors registered and a
 * snapshot of each partition: `node bench/restart.ts [--sensors 100000]` prints one JSON document.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { partitionCount } from '../core/air/sensor-id.ts'
import { readSnapshot } from '../runtime/nats/read-snapshot.ts'
import { cityOf, registerCity } from '../test/support/chaos/city.ts'
import { startPipeline } from '../test/support/chaos/pipeline-process.ts'
import { eventually } from '../test/support/eventually.ts'
import { testNats } from '../test/support/nats.ts'
import { cpuUsOf, fillRaw, rounded } from './pipeline-city.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '100000' },
    starts: { type: 'string', default: '3' },
  },
})
const sensors = Number(flags.sensors)
const withinMs = 600_000

await using resources = new AsyncDisposableStack()
const dataFolder = mkdtempSync(join(tmpdir(), 'airproof-bench-'))
resources.defer(() => rmSync(dataFolder, { recursive: true, force: true }))
const nats = resources.use(await testNats())
const nc = await nats.connect('bench')
resources.defer(() => nc.close())
const ids = cityOf(sensors)
await registerCity(nc, ids)
const options = { natsUrl: nats.url, dataFolder }
const first = resources.use(await startPipeline(options))
await first.untilReady()
await fillRaw(nc, ids, sensors)
await eventually(
  'all is stored',
  async () => (await first.metric('airproof_store_rows_total')) === sensors,
  { withinMs },
)
await first.stop()
const snapshots = await Promise.all(
  Array.from({ length: partitionCount }, (_, p) => readSnapshot(nc, p)),
)
const inSnapshots = snapshots.reduce((sum, one) => sum + (one?.state.ids.length ?? 0), 0)

const starts: { readyMs: number; cpuMs: number; rssMb: number }[] = []
for (let i = 0; i < Number(flags.starts); i++) {
  const beganMs = performance.now()
  const pipeline = resources.use(await startPipeline(options))
  await pipeline.untilReady()
  const readyMs = performance.now() - beganMs
  starts.push({
    readyMs: Math.round(readyMs),
    cpuMs: Math.round(cpuUsOf(pipeline.pid) / 1_000),
    rssMb: rounded(((await pipeline.metric('process_resident_memory_bytes')) ?? 0) / 1e6, 0),
  })
  await pipeline.stop()
}
process.stdout.write(
  `${JSON.stringify({ bench: 'restart', sensors, inSnapshots, starts }, null, 2)}\n`,
)
