/**
 * `npm run bench` names the measurements; `npm run bench -- NAME [flags]` runs one, which prints a
 * JSON document. Each compares in its own run: trust its ratios and CPU times, not a comparison of
 * two runs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const benches: Readonly<Record<string, string>> = {
  all: 'what docs/performance.md shows, three times each, and that page',
  nation: 'a million sensors with everything on: delays, memory, what is lost, and faults',
  pipeline: 'CPU a reading end to end, beside the naive program and the ceiling, on both stores',
  latency:
    'publish to acknowledged, judged, committed, visible and stored; CPU of pipeline and NATS',
  restart: '100,000 sensors: start to live, memory',
  start: 'CPU and time of each process to ready, and of commands, beside other checkouts',
  registry: 'many registered sensors: start to live and memory of each process that knows them',
  state: 'the state in memory: a reading, a silence, a snapshot',
  store: 'rows a second and the time of each query, both stores',
  growth: 'a store of 1 to 100 million readings beside one of a million; draws the picture',
  asked: 'lists, boxes, circles and areas of a million sensors',
  latest: 'every sensor with its latest reading: made, cached, live',
  api: '/v1/sensors beside koa, a router and JSON.stringify; area statistics',
  compression: 'what each coding of an answer costs, beside what it saves',
  fair: 'what an account waits for its history while visitors and others attack the store',
  quota: 'requests charged: CPU each, a second through NATS, beside a write for each',
  changes: 'a copy of the network: readings a second a core, from memory and from the log',
  statistics: 'a year of local days of a sensor and of an area, beside readings; bytes per hour',
  stages:
    'what each stage of a reading costs by itself: decode, judge, decide, encode, pack, lines',
  stream: '200 listeners of 100 readings a second: CPU, delay',
  archive: 'a day of 1.44 million readings into the archive, beside CSV with gzip',
  sizing: 'bytes of a reading in store, log, leaves and archive; GB per year',
  archives: 'a whole archive replayed, every row compared: needs --format, --store and FILES',
  seal: 'readings to a root, beside viem and merkletreejs as they come',
  signatures:
    'signatures of devices: verifications a second a core, and a reading with and without',
  values: 'the values of a reading as a list by id, beside an object with a key each',
  audit: 'a network of a million rows, half of each version: every row, leaf and anchor',
  verify: 'size of a bundle and time of its verification',
  'verify-api': '/verify under load, proofs at a million leaves',
  gate: 'sign-ins a second with 100,000 keys, a storm of 5,000, readings over MQTT',
  push: 'readings over HTTP, in arrays and one by one, each after its PubAck',
  notifier: 'deliveries, isolation and a million waiting, beside a shared pool',
  pages: 'city and sensor on a slow phone: first answer, map, bytes, presses, an idle hour',
  'live-memory': 'the memory of a city’s page that is left open for an hour',
  'city-page': 'first paint with 1,000 sensors, frames at 100 readings a second',
  'map-frames': 'frames of the map with 100,000 sensors: idle, dragged, zoomed',
  pictures: 'pictures of every page, on a phone and a desk, light and dark; before and after',
  login: 'sign-ins a second a core, and what they do to /v1 beside them',
}

const [name = '', ...flags] = process.argv.slice(2)
if (Object.hasOwn(benches, name)) {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [file, ...flags], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  process.exitCode = typeof code === 'number' ? code : 1
} else {
  process.stdout.write('usage: npm run bench -- NAME [flags]\n\n')
  for (const [bench, about] of Object.entries(benches))
    process.stdout.write(`  ${bench.padEnd(12)} ${about}\n`)
  process.exitCode = name === '' ? 0 : 2
}
