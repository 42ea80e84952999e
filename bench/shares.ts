/**
 * What parts of the program the samples of its CPU profiles were in, in percent of those that were not
 * idle. A sample belongs to the innermost function that a rule names: what Node or V8 does for it is its
 * own. The start is left out. Threads that run no JavaScript (of V8: collector, compiler) are in no profile.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rounded } from './pipeline-city.ts'

type Frame = { readonly functionName: string; readonly url: string }
type Profile = {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: Frame
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** The first that names the file counts; some files have two parts, which the function distinguishes. */
const parts: readonly (readonly [part: string, file: RegExp, name?: RegExp])[] = [
  ['start', /node:internal\/(modules|deps\/amaro|bootstrap|process\/pre_execution)/],
  ['NATS client: parse', /nats-core\/lib\/(parser|denobuffer|databuffer)/],
  ['NATS client: messages', /nats-core\/lib\/(msg|protocol|headers|muxsubscription|request)/],
  ['NATS client: the rest', /@nats-io\//],
  ['take raw messages', /pipeline\/intake\//],
  ['scan or decode', /schemas\/log\/(scan-readings|raw-reading)/],
  ['judge', /pipeline\/decide\/(judge|check-signatures|day-books)|core\/air\/|core\/iso-time/],
  ['decide and apply', /pipeline\/decide\/|core\/state\//],
  ['encode the log', /schemas\/log\/readings/, /encode|write/],
  ['decode the log', /schemas\/log\/readings/],
  ['pack rows', /store\/(packed-readings|row-fault)|pipeline\/rows-at-hand/],
  ['lines for InfluxDB', /store\/influx\/reading-lines/],
  ['InfluxDB client', /store\/influx\/|influxdb-client/],
  ['HTTP to InfluxDB, and /metrics', /node:_?http|node:internal\/http|prom-client/],
  ['SQLite', /store\/sqlite\/(file|write|worker)/],
  ['to the store’s thread', /store\/(sqlite|store)|node:internal\/worker/],
  ['statistics and neighbours', /pipeline\/(projections\/(roll|touched|sensor)|neighbours)/],
  ['batches, commit, store writer', /pipeline\//],
  ['sockets', /node:net|node:internal\/stream|transport-node/],
  ['RxJS', /\/rxjs\//],
]

const partOf = ({ functionName, url }: Frame): string | undefined => {
  if (functionName === '(garbage collector)') return 'collector'
  if (functionName === '(idle)') return 'idle'
  return parts.find(
    ([, file, name]) => file.test(url) && (name === undefined || name.test(functionName)),
  )?.[0]
}

/** µs of each part in one profile. */
function timesOf(file: string): Map<string, number> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node's own format
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const partById = new Map<number, string>()
  // a node comes before its children
  for (const { id, callFrame, children = [] } of nodes) {
    const part = partOf(callFrame) ?? partById.get(id) ?? 'other'
    partById.set(id, part)
    for (const child of children) partById.set(child, part)
  }
  const times = new Map<string, number>()
  for (const [i, id] of samples.entries()) {
    const part = partById.get(id) ?? 'other'
    times.set(part, (times.get(part) ?? 0) + (timeDeltas[i] ?? 0))
  }
  return times
}

/** Of all threads that ran JavaScript, the largest first, in percent. */
export function sharesIn(folder: string): Readonly<Record<string, number>> {
  const times = new Map<string, number>()
  for (const file of globSync(join(folder, '*.cpuprofile')))
    for (const [part, us] of timesOf(file)) times.set(part, (times.get(part) ?? 0) + us)
  for (const left of ['idle', 'start']) times.delete(left)
  const all = times.values().reduce((sum, us) => sum + us, 0)
  const sorted = [...times].toSorted(([, a], [, b]) => b - a)
  return Object.fromEntries(sorted.map(([part, us]) => [part, rounded((us / all) * 100, 1)]))
}
