/**
 * What every sensor with its latest reading costs: `node bench/latest.ts [--sensors 1000]` prints one
 * JSON document.
 *
 * - `made`: ms to make the answer, without HTTP. `cold`: every sensor has a new reading since the
 *   answer before; `warm`: one has.
 * - `served`: ms of a request over HTTP, and CPU of only the server per request: all of it, and what
 *   is ours (`userUs`), without the kernel's copying. `cached`: no
 *   reading arrives; `live`: 100 per second, so the answer is made again for most requests.
 */
import { parseArgs } from 'node:util'
import type { Request } from '../api/http/answer.ts'
import { areaDirectory } from '../api/live/area-directory.ts'
import { listSensors } from '../api/sensors/list-sensors.ts'
import { createCity, rules } from './api-city.ts'
import { ask, closeClient, load, startServer } from './api-client.ts'

const { values: flags } = parseArgs({
  options: { sensors: { type: 'string', default: '1000' } },
})
const sensors = Number(flags.sensors)
const rounds = 200
const path = `/v1/sensors?include=latest&limit=1000`

function spread(ms: number[]) {
  ms.sort((a, b) => a - b)
  const at = (part: number): number =>
    Math.round((ms[Math.floor((ms.length - 1) * part)] ?? Number.NaN) * 100) / 100
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

function benchMade(type: string, query: readonly (readonly [string, string])[]) {
  const { board, hear } = createCity(sensors)
  const directory = areaDirectory(board.table().outline(), {
    networkName: 'Lagos',
    idPrefix: 'NGR-LOS',
  })
  const route = listSensors({ board, rules, directory: () => directory, nowMs: Date.now })
  const params = new Map([['include', 'latest'], ['limit', '1000'], ...query])
  const request: Request = {
    names: {},
    params,
    type,
    asker: { isVisitor: false, share: () => '', gone: () => AbortSignal.abort() },
    caller: undefined,
    network: () => '',
    header: () => undefined,
    readBody: async () => undefined,
  }
  const startMs = Date.now()
  let heard = 0
  const hearAll = (): void => {
    for (let n = 0; n < sensors; n++) hear(n, startMs + heard++)
  }
  const time = (change: () => void) => {
    const ms: number[] = []
    for (let round = 0; round < rounds; round++) {
      change()
      const before = performance.now()
      void route.answer(request)
      ms.push(performance.now() - before)
    }
    return spread(ms)
  }
  time(hearAll)
  return { cold: time(hearAll), warm: time(() => hear(0, startMs + heard++)) }
}

async function benchServed(readingsPerSecond: number, more = '') {
  await using server = await startServer('./api-ours.ts', [sensors, readingsPerSecond])
  const url = server.url + path + more
  await load(url, 2_000)
  const cpuUs: number[] = []
  const userUs: number[] = []
  for (let turn = 0; turn < 10; turn++) {
    const [before, userBefore] = [await server.cpuUs(), await server.userUs()]
    await load(url, 500)
    userUs.push(Math.round(((await server.userUs()) - userBefore) / 500))
    cpuUs.push(Math.round(((await server.cpuUs()) - before) / 500))
  }
  const ms: number[] = []
  for (let round = 0; round < rounds; round++) {
    const before = performance.now()
    await ask(url)
    ms.push(performance.now() - before)
  }
  // the other work of the machine can only add, so the least disturbed turn is the best measure
  const least = { cpuUs: Math.min(...cpuUs), userUs: Math.min(...userUs) }
  return { ...spread(ms), ...least, allTurns: cpuUs, bytes: await ask(url) }
}

const json = 'application/json'
const result = {
  bench: 'latest',
  node: process.version,
  sensors,
  made: {
    json: benchMade(json, []),
    'three fields': benchMade(json, [['fields', 'id,last_reading,pm25']]),
    csv: benchMade('text/csv', []),
    near: benchMade(json, [['near', '6.5,3.4']]),
  },
  served: {
    cached: await benchServed(0),
    'cached, three fields': await benchServed(0, '&fields=id,last_reading,pm25'),
    live: await benchServed(100),
  },
}
closeClient()
console.log(JSON.stringify(result, undefined, 2))
