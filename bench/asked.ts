/**
 * What lists of very many sensors cost: `node bench/asked.ts [--sensors 1000000] [--pages 200]` prints one
 * JSON document. All of them have sent a reading; a hundredth is silent since. Areas have 10,000 sensors each.
 *
 * - `openMs`: to make the board of a registry that is in memory.
 * - `pages`: ms and CPU (user + system, µs) to make one answer, without HTTP. `first`: again and again the
 *   same page while readings arrive, as a page that is open asks for it; `any`: another place each time, so
 *   that no text is ready.
 */
import { parseArgs } from 'node:util'
import { listAreas } from '../api/areas/areas.ts'
import type { Request, Route } from '../api/http/answer.ts'
import { idCursor } from '../api/http/cursor.ts'
import { areaDirectory } from '../api/live/area-directory.ts'
import { listSensors } from '../api/sensors/list-sensors.ts'
import { createCity, rules, sensorId } from './api-city.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '1000000' },
    pages: { type: 'string', default: '200' },
  },
})
const sensors = Number(flags.sensors)
const pages = Number(flags.pages)
const areas = Math.max(1, Math.round(sensors / 10_000))

const openedMs = performance.now()
const { board, hear } = createCity(sensors, areas)
const openMs = Math.round(performance.now() - openedMs)
const startMs = Date.now()
for (let n = 0; n < sensors; n++) if (n % 100 !== 0) hear(n, startMs - 1_000)
const directory = areaDirectory(board.table().outline(), {
  networkName: 'Lagos',
  idPrefix: 'NGR-LOS',
})
const options = { board, rules, directory: () => directory, nowMs: Date.now }

const sensorsRoute = listSensors(options)
const areasRoute = listAreas(options)

async function measure(route: Route, queryOf: (n: number) => Record<string, string>, most = pages) {
  const askFor = async (n: number) => {
    const request: Request = {
      names: {},
      params: new Map(Object.entries(queryOf(n))),
      type: 'application/json',
      asker: { isVisitor: false, share: () => '', gone: () => AbortSignal.abort() },
      caller: undefined,
      network: () => '',
      header: () => undefined,
      readBody: async () => undefined,
    }
    return await route.answer(request)
  }
  for (let n = 0; n < most / 4; n++) await askFor(n + most)
  const ms: number[] = []
  const cpuUs: number[] = []
  for (let n = 0; n < most; n++) {
    hear((n * 7_919 + 1) % sensors, startMs + n)
    const [before, cpu] = [performance.now(), process.cpuUsage()]
    await askFor(n)
    ms.push(performance.now() - before)
    const { user, system } = process.cpuUsage(cpu)
    cpuUs.push(user + system)
  }
  const at = (values: number[], part: number): number => {
    values.sort((a, b) => a - b)
    return values[Math.floor((values.length - 1) * part)] ?? Number.NaN
  }
  const rounded = (value: number): number => Math.round(value * 100) / 100
  return {
    p50Ms: rounded(at(ms, 0.5)),
    p99Ms: rounded(at(ms, 0.99)),
    cpuUs: Math.round(cpuUs.reduce((sum, one) => sum + one, 0) / most),
    leastCpuUs: Math.round(at(cpuUs, 0)),
  }
}

const anyCursor = (n: number) => ({ cursor: idCursor(sensorId((n * 49_999) % sensors)) })
/** South and west corners somewhere, with about `count` sensors in it. */
const boxOf = (n: number, count: number) => {
  const side = 10 * Math.sqrt(Math.min(0.25, count / sensors))
  const west = 3 + ((n * 0.37) % (10 - side))
  const south = 4 + ((n * 0.41) % (10 - side))
  return { bbox: [west, south, west + side, south + side].map((part) => part.toFixed(4)).join(',') }
}
const placeOf = (n: number) =>
  `${(4 + ((n * 0.41) % 10)).toFixed(4)},${(3 + ((n * 0.37) % 10)).toFixed(4)}`
/** With about `count` sensors in it. */
const radiusFor = (count: number): string =>
  Math.min(200_000, 1_110_000 * Math.sqrt(count / sensors / Math.PI)).toFixed(0)
const latest = { include: 'latest' }
const areaOf = (n: number) => ({ area: `area-${n % areas}` })

const asked = {
  'first page': await measure(sensorsRoute, () => ({})),
  'any page': await measure(sensorsRoute, anyCursor),
  'status=offline, first': await measure(sensorsRoute, () => ({ status: 'offline' })),
  'status=online, any': await measure(sensorsRoute, (n) => ({ ...anyCursor(n), status: 'online' })),
  'area, first': await measure(sensorsRoute, () => areaOf(1)),
  'area and status, any': await measure(sensorsRoute, (n) => ({ ...areaOf(n), status: 'offline' })),
  'bbox of 100, same': await measure(sensorsRoute, () => boxOf(1, 100)),
  'bbox of 100, any': await measure(sensorsRoute, (n) => boxOf(n, 100)),
  'bbox of 1,000, same': await measure(sensorsRoute, () => boxOf(1, 1_000)),
  'bbox of 10,000, same': await measure(sensorsRoute, () => boxOf(1, 10_000)),
  'near, 100 in the radius, same': await measure(sensorsRoute, () => ({
    near: placeOf(1),
    radius: radiusFor(100),
  })),
  'near, 100 in the radius, any': await measure(sensorsRoute, (n) => ({
    near: placeOf(n),
    radius: radiusFor(100),
  })),
  'latest near, nearest 100, any': await measure(sensorsRoute, (n) => ({
    ...latest,
    near: placeOf(n),
  })),
  'latest of an area of 10,000, 1,000 a page, same': await measure(sensorsRoute, () => ({
    ...latest,
    ...areaOf(1),
    limit: '1000',
  })),
  'latest of an area of 10,000, 1,000 a page, any': await measure(sensorsRoute, (n) => ({
    ...latest,
    ...areaOf(n),
    limit: '1000',
  })),
  'all areas': await measure(areasRoute, () => ({}), 20),
}
process.stdout.write(
  `${JSON.stringify({ bench: 'asked', node: process.version, sensors, areas, openMs, pages: asked }, null, 2)}\n`,
)
