/**
 * A child of `bench/api.ts` and `bench/compression.ts`: our own /v1/sensors over a city that keeps
 * sending, and /v1/readings from memory.
 */
import { hash } from 'node:crypto'
import { createServer } from 'node:http'
import { createApp } from '../api/app.ts'
import { areaDirectory } from '../api/live/area-directory.ts'
import { createReadingTexts } from '../api/live/reading-json.ts'
import { listReadings } from '../api/readings/list-readings.ts'
import { listSensors } from '../api/sensors/list-sensors.ts'
import { createDigest } from '../runtime/hashes/digest.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { readingOf } from '../test/support/readings.ts'
import { serveFor } from './api-child.ts'
import { admit, createCity, rules, sensorId } from './api-city.ts'

const sensors = Number(process.argv[2])
const readingsPerSecond = Number(process.argv[3] ?? 100)
const { board, hear } = createCity(sensors)
const startMs = Date.now()
for (let n = 0; n < sensors; n++) hear(n, startMs - 1_000 + n)
const directory = areaDirectory(board.table().outline(), {
  networkName: 'Lagos',
  idPrefix: 'NGR-LOS',
})

/** A sensor-week at ten minutes, noisy as air is; 100 readings share a transaction. */
const page = Array.from({ length: 1_000 }, (_, i) => {
  const noise = (most: number): number =>
    hash('sha256', `${i}.${most}`, 'buffer').readUInt32LE() % most
  return readingOf({
    sensor: sensorId(1),
    timeMs: Date.UTC(2026, 0, 15) - i * 600_000,
    seq: 1_000 - i,
    aqi: 60 + noise(60),
    pm25: 2_000 + noise(3_001),
    pm10: 4_000 + noise(5_003),
    co2: 41_000 + noise(6_007),
    temperature: 2_600 + noise(701),
    humidity: 6_500 + noise(2_501),
  })
})
const texts = createReadingTexts(await createKeccak(), ({ seq }) => ({
  verified: true,
  status: 'verified',
  tx_hash: `0x${hash('sha256', String(Math.floor(seq / 100)))}`,
}))

const app = createApp({
  admit,
  digest: await createDigest(),
  observe: () => undefined,
  routes: [
    listSensors({ board, rules, directory: () => directory, nowMs: Date.now }),
    listReadings({
      board,
      rules,
      texts,
      nowMs: Date.now,
      newest: { page: ({ limit }) => page.slice(0, limit), floorMs: () => undefined },
      queryStore: () => Promise.reject(new Error('all of it is in memory')),
    }),
  ],
})
const handle = app.callback()
const server = createServer((request, response) => void handle(request, response))
await serveFor(server, (n) => hear(n % sensors, startMs + n), readingsPerSecond)
