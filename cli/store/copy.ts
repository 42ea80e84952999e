import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../core/time.ts'
import {
  keepLogFrom,
  oldestNeeded,
  readRollUp,
  storedUpTo,
  storeInUse,
  writeStoreCopy,
} from '../../operate/store-copy.ts'
import { exitCodes, MustAct, TryAgain, WrongUsage } from '../../runtime/exit.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import {
  placeInWords,
  placeOf,
  type StoreSettings,
  sqliteFileIn,
} from '../../runtime/machine/store-place.ts'
import { pause } from '../../runtime/pause.ts'
import { readSharedConfig, type SharedConfig } from '../../runtime/process/config.ts'
import { openStore } from '../../store/open-store.ts'
import { type Store, StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'
import type { CommandContext } from '../shell/command.ts'
import { openProgress } from '../shell/progress.ts'
import { exactWords, neededFlag } from '../shell/words.ts'
import { type CopiedRows, type CopyOptions, copyReadings } from './copy-readings.ts'
import { type CopiedStatistics, copyStatistics } from './copy-statistics.ts'
import { withNats } from './own-nats.ts'

type Kind = StoreSettings['kind']

/** A store that is away for longer ends the command; it continues when it is run again. */
const patienceMs = 60 * secondMs
const linesEveryMs = 10 * secondMs

export async function copy(context: CommandContext): Promise<number> {
  const { flags, print } = context
  exactWords(context.words.slice(1))
  const [from, to] = [kindFlag(context, 'from'), kindFlag(context, 'to')]
  if (from === to) throw new WrongUsage('--from and --to must be different: sqlite and influx')
  const config = readSharedConfig(context)
  const places = { from: settingsOf(from, config), to: settingsOf(to, config) }
  try {
    return await withNats(context, async (nc) => {
      const isRunning = readRunningInstance(config.dataFolder) !== undefined
      const done = await copyStore(nc, context, places, config.dataFolder)
      if (flags['json'] === true) print(JSON.stringify(done))
      else for (const line of linesOf(done, places.to, isRunning)) print(line)
      return exitCodes.done
    })
  } catch (cause) {
    if (context.stop.aborted) throw new TryAgain(again, { cause })
    if (cause instanceof StoreUnavailable)
      throw new TryAgain(`${cause.message}. ${again}`, { cause })
    if (cause instanceof StoreMisconfigured)
      throw new MustAct(`${cause.message}. ${again}`, { cause })
    throw cause
  }
}

const again = 'What is copied stays: run the same command again, and it continues'

type Done = {
  readonly readings: CopiedRows
  readonly statistics: CopiedStatistics
  readonly up_to: readonly number[]
}

type Places = { readonly from: StoreSettings; readonly to: StoreSettings }

async function copyStore(
  nc: NatsConnection,
  context: CommandContext,
  places: Places,
  dataFolder: string,
): Promise<Done> {
  const [from, to] = [placeOf(places.from), placeOf(places.to)]
  const inUse = await storeInUse(nc, dataFolder)
  if (JSON.stringify(inUse) !== JSON.stringify(from))
    throw new MustAct(
      inUse.kind === to.kind
        ? `readings are stored in ${placeInWords(inUse)} already: there is nothing to copy to it`
        : `readings are stored in ${placeInWords(inUse)}, and --from names ${placeInWords(from)}: give the settings of the one that is in use`,
    )
  await using source = await openStore(places.from, { readOnly: true })
  await using target = await openStore(places.to)
  await Promise.all([source.ping(), target.ping()])
  await refuseRetention(source, target)

  // the record of statistics first: what is written after it is written again
  const rollup = await readRollUp(nc)
  const bound = await storedUpTo(nc, source)
  const record = { from, to, ...bound, rollup }
  await keepLogFrom(nc, oldestNeeded(record))
  const insist = insistent(context)
  const readings = await copyAllReadings({ source, target, bound, insist }, context)
  const statistics = await copyAllStatistics({ source, target, insist }, context)
  await writeStoreCopy(nc, record)
  return { readings, statistics, up_to: bound.upTo }
}

/** A bucket that drops what is older would lose it again, without a fault. */
async function refuseRetention(source: Store, target: Store): Promise<void> {
  const keptFromMs = await target.keptFromMs()
  if (keptFromMs === undefined) return
  const [oldest] = await source.rangeAll(0, Date.now(), 1, undefined, 'asc')
  if (oldest === undefined || oldest.timeMs >= keptFromMs) return
  throw new MustAct(
    `the bucket drops what is from before ${new Date(keptFromMs).toISOString()}, and there are readings from ${new Date(oldest.timeMs).toISOString()} on: \`influx bucket update --retention 0\`, or copy to another bucket`,
  )
}

async function copyAllReadings(
  options: Omit<CopyOptions, 'onDay'>,
  context: CommandContext,
): Promise<CopiedRows> {
  const { source } = options
  const [[first], [last]] = await Promise.all([
    source.rangeAll(0, Number.MAX_SAFE_INTEGER, 1, undefined, 'asc'),
    source.rangeAll(0, Number.MAX_SAFE_INTEGER, 1),
  ])
  if (first === undefined || last === undefined) return { compared: 0, written: 0 }
  const spanMs = Math.max(1, last.timeMs - first.timeMs)
  const say = saying(context, 'readings', 100)
  using _ = say
  return await copyReadings({
    ...options,
    onDay: ({ compared, written, dayMs }) =>
      say.at(
        Math.floor(Math.min(1, Math.max(0, (dayMs - first.timeMs) / spanMs)) * 100),
        `${new Date(dayMs).toISOString().slice(0, 10)}: ${compared} compared, ${written} written`,
      ),
  })
}

async function copyAllStatistics(
  options: Pick<CopyOptions, 'source' | 'target' | 'insist'>,
  context: CommandContext,
): Promise<CopiedStatistics> {
  const say = saying(context, 'statistics', 100)
  using _ = say
  return await copyStatistics({
    ...options,
    nowMs: Date.now(),
    onDone: (done, all) =>
      say.at(Math.floor((done / all) * 100), `${done} of ${all} areas and sensors`),
  })
}

/** A bar on a terminal, else a line now and then. */
function saying({ isTerminal, note }: CommandContext, label: string, total: number) {
  const bar = openProgress({ label, total, isTerminal })
  let saidMs = performance.now()
  return {
    at: (done: number, words: string): void => {
      bar.at(done, words)
      if (isTerminal || performance.now() - saidMs < linesEveryMs) return
      saidMs = performance.now()
      note(`${label}: ${done} %, ${words}`)
    },
    [Symbol.dispose]: () => bar[Symbol.dispose](),
  }
}

const insistent =
  ({ note, stop }: CommandContext): CopyOptions['insist'] =>
  async (work) => {
    const untilMs = performance.now() + patienceMs
    for (let waitMs = secondMs; ; waitMs = Math.min(2 * waitMs, 8 * secondMs)) {
      stop.throwIfAborted()
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || performance.now() > untilMs) throw error
        note(`${error.message}: trying again`)
        await pause(waitMs, stop)
      }
    }
  }

function kindFlag({ flags }: CommandContext, name: string): Kind {
  const kind = neededFlag(flags, name, name === 'from' ? 'sqlite' : 'influx')
  if (kind === 'sqlite' || kind === 'influx') return kind
  throw new WrongUsage(`--${name} must be sqlite or influx, and is "${kind}"`)
}

function settingsOf(kind: Kind, { store, dataFolder }: SharedConfig): StoreSettings {
  if (kind === 'sqlite') return { kind, file: sqliteFileIn(dataFolder) }
  if (store.kind === 'influx') return store
  throw new WrongUsage('set INFLUX_URL and INFLUX_TOKEN_FILE: `airproof store setup` writes them')
}

function linesOf(
  { readings, statistics, up_to }: Done,
  to: StoreSettings,
  isRunning: boolean,
): readonly string[] {
  const numbers = up_to.reduce((sum, n) => sum + n, 0)
  const start = isRunning ? 'stop the instance and start it again' : 'start again'
  const settings =
    to.kind === 'influx' ? 'with the INFLUX_ settings that this command had' : 'without INFLUX_URL'
  return [
    `readings: ${readings.compared} compared row by row, the same in both; ${readings.written} of them written now`,
    `statistics: ${statistics.compared} hours and days compared, ${statistics.written} written now`,
    `copied up to reading ${numbers} of the log: what comes later is in the log, and the first start takes it from there`,
    `now ${start} ${settings}, within 7 days (later: run this again first)`,
  ]
}
