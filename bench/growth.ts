/**
 * What a store costs as it grows: `node bench/growth.ts [--engine sqlite] [--at 1,3,10,30,100]
 * [--small 1] [--sensors 1000] [--turns 5] [--minutes 600]` prints one JSON document. A big store is
 * filled to so many million readings, or as many as there are after so many minutes. At each of them it is
 * measured in turns with a small one, because the machine has other work: `ratio` is the big one's cost by
 * the small one's.
 *
 * What is measured is written in the pipeline's way, in messages of ten readings up to a batch, in the
 * order of their time and a few late. The bulk before is copied inside SQLite, in the order of its time.
 *
 * - `write`: CPU µs of a row, the server's included; `rowsPerSecond` is the big store's.
 * - Queries: ms, the median of the turns; `cpuMs` of the process and the server.
 * - `restart`: closed (InfluxDB: killed), opened, and a query answered.
 * - `bytesPerRow`: of all files but `logBytes`: SQLite's write-ahead log, InfluxDB's WAL.
 *
 * `--picture FILE --from FILE` draws such documents as one SVG.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { wholeNetwork } from '../core/air/area.ts'
import { dayMs, hourMs, minuteMs } from '../core/time.ts'
import type { AreaStats, Store } from '../store/store.ts'
import { cadenceMs, type GrowthCity, growthCity, startMs } from './growth-city.ts'
import { type GrowthEngine, openInfluxEngine, openSqliteEngine } from './growth-engines.ts'
import { growthPicture } from './growth-picture.ts'

const { values: flags } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    small: { type: 'string', default: '1' },
    at: { type: 'string', default: '1,3,10,30,100' },
    minutes: { type: 'string', default: '600' },
    turns: { type: 'string', default: '5' },
    sensors: { type: 'string', default: '1000' },
    picture: { type: 'string' },
    from: { type: 'string', multiple: true, default: [] },
  },
})
const sensors = Number(flags.sensors)
const smallRows = Number(flags.small) * 1_000_000
const milestones = flags.at.split(',').map((millions) => Number(millions) * 1_000_000)
const fillUntilMs = performance.now() + Number(flags.minutes) * minuteMs
const turns = Number(flags.turns)
/** A message of the log has some ten readings. */
const rowsAMessage = 10
const statisticsMs = 12 * hourMs

type Side = {
  readonly engine: GrowthEngine
  readonly city: GrowthCity
  store: Store
  rows: number
}

async function newSide(): Promise<Side> {
  const engine = await (flags.engine === 'influx' ? openInfluxEngine() : openSqliteEngine())
  return { engine, city: growthCity(sensors), store: await engine.open(), rows: 0 }
}

/** As the store's writer writes: what is there, in messages, up to the rows of a batch, in its lanes. */
async function fill(side: Side, upTo: number): Promise<void> {
  const { batchRows, lanes } = side.store.writing
  const lane = async (): Promise<void> => {
    while (side.rows < upTo) {
      const rows = Math.min(batchRows, upTo - side.rows)
      side.rows += rows
      const batch = Array.from({ length: Math.ceil(rows / rowsAMessage) }, (_, at) =>
        side.city.next(Math.min(rowsAMessage, rows - at * rowsAMessage)),
      )
      await side.store.writePacked(batch)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

const chunkMs = 12 * hourMs

/**
 * The bulk of a big store: its last half day again and again, for what is measured is how the store is, and
 * not how it came to be. The rest is written.
 */
async function fillBig(side: Side, upTo: number): Promise<void> {
  const { engine, city } = side
  const rowsAChunk = (sensors * chunkMs) / cadenceMs
  await fill(side, Math.min(upTo, Math.max(rowsAChunk, Math.ceil(side.rows / sensors) * sensors)))
  const untilMs = startMs + (side.rows / sensors) * cadenceMs
  for (let chunk = 1; engine.copy && side.rows + rowsAChunk <= upTo; chunk++) {
    if (performance.now() > fillUntilMs) return
    engine.copy(untilMs - chunkMs, untilMs, chunk * chunkMs, chunk * rowsAChunk)
    side.rows += rowsAChunk
    city.skip(rowsAChunk)
  }
  await fill(side, upTo)
}

/** Thirty days of hours of the network, before its first reading. */
async function writeHours(side: Side): Promise<void> {
  const { store, city } = side
  const hours = await store.computeBuckets(wholeNetwork, startMs, city.nowMs(), 'hour')
  const thirtyDays = Array.from(
    { length: 30 * 24 },
    (_, at): AreaStats => ({
      ...hours[at % hours.length]!,
      startMs: startMs - 30 * dayMs + at * hourMs,
    }),
  )
  await store.writeAreaHours(thirtyDays)
}

type Query = (side: Side, turn: number) => Promise<unknown>

const idAt = ({ city }: Side, turn: number) => city.ids[(turn * 37) % city.ids.length]!
/** Somewhere in all that is kept, another time at each turn. */
const oldMs = ({ city }: Side, turn: number): number =>
  startMs +
  Math.floor(((city.nowMs() - startMs) * ((turn * 0.618_034) % 1)) / cadenceMs) * cadenceMs
const endOf = ({ city }: Side): number => city.nowMs() + 1

/** What the API and the pipeline ask, each `times` a turn. */
const queries: Readonly<Record<string, { readonly times: number; readonly ask: Query }>> = {
  newestOfSensor: { times: 50, ask: (side, turn) => side.store.latest(idAt(side, turn), 100) },
  pageOfSensor: {
    times: 50,
    ask: (side, turn) => {
      const at = oldMs(side, turn)
      return side.store.range(idAt(side, turn), at, at + dayMs, 100)
    },
  },
  oneReading: {
    times: 50,
    ask: (side, turn) => side.store.at(idAt(side, turn), oldMs(side, turn)),
  },
  newestOfAll: {
    times: 5,
    ask: (side) => side.store.rangeAll(endOf(side) - 5 * cadenceMs, endOf(side), 1_000),
  },
  cursorPage: {
    times: 5,
    ask: (side, turn) => {
      const at = oldMs(side, turn)
      const cursor = { timeMs: at, sensor: idAt(side, turn) }
      return side.store.rangeAll(at - hourMs, at + hourMs, 1_000, cursor, 'asc')
    },
  },
  lateLane: {
    times: 2,
    ask: (side, turn) =>
      side.store.existing(
        Array.from({ length: 200 }, (_, at) => ({
          sensor: idAt(side, turn + at),
          timeMs: oldMs(side, turn * 200 + at),
        })),
      ),
  },
  overallOfNetwork: {
    times: 1,
    ask: (side) => side.store.computeOverall(wholeNetwork, endOf(side) - statisticsMs, endOf(side)),
  },
  overallOfArea: {
    times: 1,
    ask: (side) => side.store.computeOverall('Area 1', endOf(side) - statisticsMs, endOf(side)),
  },
  hourOfNetwork: {
    times: 1,
    ask: (side) => {
      const end = Math.floor(endOf(side) / hourMs) * hourMs
      return side.store.computeBuckets(wholeNetwork, end - hourMs, end, 'hour')
    },
  },
  thirtyDays: {
    times: 5,
    ask: (side) => side.store.areaHours(wholeNetwork, startMs - 30 * dayMs, startMs),
  },
}

type Cost = { readonly ms: number; readonly cpuMs: number }

async function costOf({ engine }: Side, work: () => Promise<unknown>): Promise<Cost> {
  const cpu = process.cpuUsage()
  const serverMs = engine.serverCpuMs()
  const before = performance.now()
  await work()
  const ms = performance.now() - before
  const { user, system } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + system) / 1_000 + engine.serverCpuMs() - serverMs }
}

/** Both in turns. */
async function compare(sides: readonly [Side, Side], times: number, work: Query, rounds = turns) {
  const costs: readonly [Cost[], Cost[]] = [[], []]
  for (let turn = 0; turn < rounds; turn++)
    for (const [at, side] of sides.entries()) {
      const cost = await costOf(side, async () => {
        for (let time = 0; time < times; time++) await work(side, turn * times + time)
      })
      costs[at]!.push({ ms: cost.ms / times, cpuMs: cost.cpuMs / times })
    }
  const [small, big] = [inShort(costs[0]!), inShort(costs[1]!)]
  return {
    small,
    big,
    ratio: { ms: rounded(big.ms / small.ms), cpu: rounded(big.cpuMs / small.cpuMs) },
  }
}

const inShort = (costs: readonly Cost[]) => ({
  ms: median(costs.map(({ ms }) => ms)),
  bestMs: rounded(Math.min(...costs.map(({ ms }) => ms))),
  cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
})
const rounded = (value: number): number => Number(value.toPrecision(3))
const median = (values: number[]): number =>
  rounded(values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN)

async function restart(side: Side): Promise<void> {
  await side.store[Symbol.asyncDispose]()
  await side.engine.restart()
  side.store = await side.engine.open()
  await side.store.latest(idAt(side, 1), 1)
}

async function measure(sides: readonly [Side, Side]) {
  const [, big] = sides
  const probeRows = 20_000
  const began = performance.now()
  const write = await compare(sides, 1, async (side) => fill(side, side.rows + probeRows))
  const results: Record<string, unknown> = {}
  for (const [name, { times, ask }] of Object.entries(queries))
    results[name] = await compare(sides, times, ask)
  const sizes = sides.map(({ engine, rows }) => (engine.bytes() - engine.logBytes()) / rows)
  const logBytes = big.engine.logBytes()
  const restarts = await compare(sides, 1, restart, 3)
  return {
    rows: big.rows,
    load: readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 1).map(Number)[0],
    seconds: Math.round((performance.now() - began) / 1_000),
    write: {
      ...write,
      cpuUsPerRow: rounded((write.big.cpuMs * 1_000) / probeRows),
      rowsPerSecond: Math.round((probeRows * 1_000) / write.big.ms),
    },
    ...results,
    restart: restarts,
    bytesPerRow: { big: rounded(sizes[1]!), ratio: rounded(sizes[1]! / sizes[0]!) },
    logBytes,
  }
}

async function grow(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const sides = [await newSide(), await newSide()] as const
  for (const { engine } of sides) stack.use(engine)
  for (const side of sides) stack.defer(async () => side.store[Symbol.asyncDispose]())
  const [small, big] = sides
  const steps: unknown[] = []
  for (const rows of milestones) {
    const filling = await costOf(big, async () => fillBig(big, Math.max(big.rows, rows)))
    if (steps.length === 0) {
      await fill(small, smallRows)
      for (const side of sides) await writeHours(side)
    }
    const step = await measure(sides)
    steps.push({ ...step, fillSeconds: Math.round(filling.ms / 1_000) })
    process.stderr.write(`${JSON.stringify(steps.at(-1))}\n`)
    if (performance.now() > fillUntilMs) break
  }
  console.log(JSON.stringify({ engine: flags.engine, sensors, smallRows, steps }, null, 1))
}

if (flags.picture === undefined) await grow()
else
  writeFileSync(flags.picture, growthPicture(flags.from.map((file) => readFileSync(file, 'utf8'))))
