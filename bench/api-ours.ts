/** A child of `bench/api.ts`: our own /v1/sensors over a city that keeps sending. */
import { createServer } from 'node:http'
import { createApp } from '../api/app.ts'
import { areaDirectory } from '../api/live/area-directory.ts'
import { listSensors } from '../api/sensors/list-sensors.ts'
import { serveFor } from './api-child.ts'
import { admit, createCity, rules } from './api-city.ts'

const sensors = Number(process.argv[2])
const readingsPerSecond = Number(process.argv[3] ?? 100)
const { board, hear } = createCity(sensors)
const startMs = Date.now()
for (let n = 0; n < sensors; n++) hear(n, startMs - 1_000 + n)
const directory = areaDirectory([], { networkName: 'Lagos', idPrefix: 'NGR-LOS' })
const app = createApp({
  admit,
  observe: () => undefined,
  routes: [listSensors({ board, rules, directory: () => directory, nowMs: Date.now })],
})
const handle = app.callback()
const server = createServer((request, response) => void handle(request, response))
await serveFor(server, (n) => hear(n % sensors, startMs + n), readingsPerSecond)
