import type { NatsConnection } from '@nats-io/transport-node'
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
import { readSharedConfig, type SharedConfig } from '../../runtime/process/config.ts'
import { openStore } from '../../store/open-store.ts'
import { StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'
import type { CommandContext } from '../shell/command.ts'
import { exactWords, neededFlag } from '../shell/words.ts'
import { type CopiedStore, copyRows } from './copy-rows.ts'
import { withNats } from './own-nats.ts'

type Kind = StoreSettings['kind']

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

type Done = CopiedStore & {
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

  // the record of statistics first: what is written after it is written again
  const rollup = await readRollUp(nc)
  const bound = await storedUpTo(nc, source)
  const record = { from, to, ...bound, rollup }
  await keepLogFrom(nc, oldestNeeded(record))
  const copied = await copyRows({ source, target, bound }, context)
  await writeStoreCopy(nc, record)
  return { ...copied, up_to: bound.upTo }
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
