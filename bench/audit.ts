/**
 * `airproof audit` of a whole network: every row hashed, every leaf, tile and root, every anchor. Half of
 * the batches are of version 1, half of version 2, on a real chain, NATS and SQLite file.
 * Usage: node bench/audit.ts [--rows 1000000] [--batches 20] [--profile FOLDER]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { type Reading, seqOf } from '../core/air/reading.ts'
import { partitionCount, type SensorId } from '../core/air/sensor-id.ts'
import { environment } from '../runtime/process/config.ts'
import { auditedNetwork } from '../test/support/chain/audited-network.ts'
import { valued } from '../test/support/readings.ts'

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    batches: { type: 'string', default: '20' },
    profile: { type: 'string' },
  },
})
const rows = Number(flags.rows)
const batches = Number(flags.batches)
const perBatch = Math.floor(rows / batches)
const perPartition = Math.floor(perBatch / partitionCount)
const startMs = Date.now() - 86_400_000

const readingOf = (batch: number, partition: number, at: number, isSecond: boolean): Reading => {
  const n = batch * perPartition + at + 1
  return valued({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made here, of the right form
    sensor: `NGR-LOS-BEN-${String(partition * 100 + (n % 60)).padStart(4, '0')}` as SensorId,
    area: `Area ${partition % 7}`,
    timeMs: startMs + batch * 60_000 + at * 10 + partition,
    pm25: n % 50_000,
    pm10: n % 60_000,
    co2: 41_000 + (n % 500),
    temperature: 2_900 - (n % 2_000),
    humidity: n % 10_000,
    aqi: n % 500,
    flags: 0,
    seq: seqOf(partition, n),
    ...(isSecond && { leafVersion: 2 as const }),
  })
}

await using network = await auditedNetwork()
await network.deploy()
let stored = 0
for (let batch = 0; batch < batches; batch++) {
  const isSecond = batch >= batches / 2
  if (batch === Math.ceil(batches / 2)) await network.goOn()
  const readings = Array.from({ length: partitionCount }, (_, partition) =>
    Array.from({ length: perPartition }, (_reading, at) =>
      readingOf(batch, partition, at, isSecond),
    ),
  ).flat()
  await network.seal(readings)
  for (let at = 0; at < readings.length; at += 5_000)
    await network.store.writeBatch(readings.slice(at, at + 5_000))
  stored += readings.length
}
await network.finalize()

const profile = flags.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${flags.profile}`]
const started = performance.now()
const child = spawn(process.execPath, [...profile, 'bin/airproof.mjs', 'audit', '--json'], {
  env: { ...environment(), ...network.env, AIRPROOF_LOG: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
let out = ''
child.stdout.on('data', (chunk: Buffer) => {
  out += chunk.toString()
})
const [code] = await once(child, 'close')
const seconds = (performance.now() - started) / 1_000
const report: { readonly rows?: unknown; readonly findings?: unknown } =
  out === '' ? {} : JSON.parse(out)
console.log(
  JSON.stringify(
    {
      bench: 'audit',
      node: process.version,
      batches,
      goal: { rows: 1_000_000, seconds: 60 },
      rows: stored,
      exitCode: code,
      seconds: Math.round(seconds * 10) / 10,
      rowsPerSecond: Math.round(stored / seconds),
      found: report.rows,
      findings: report.findings,
    },
    undefined,
    2,
  ),
)
process.exitCode = code === 0 ? 0 : 1
