/** All rows of a store into another one: readings, then hours and days. May be killed, and run again. */
import { dayMs, secondMs } from '../../core/time.ts'
import { isDiskFull, MustAct } from '../../runtime/exit.ts'
import { pause } from '../../runtime/pause.ts'
import { type Store, StoreUnavailable } from '../../store/store.ts'
import type { CommandContext } from '../shell/command.ts'
import { openProgress } from '../shell/progress.ts'
import { type CopiedRows, type CopyOptions, copyReadings } from './copy-readings.ts'
import { type CopiedStatistics, copyStatistics } from './copy-statistics.ts'

/** A store that is away for longer ends the command; it continues when it is run again. */
const patienceMs = 60 * secondMs

export type CopiedStore = {
  readonly readings: CopiedRows
  readonly statistics: CopiedStatistics
}

type Context = Pick<CommandContext, 'isTerminal' | 'note' | 'stop'>

export async function copyRows(
  options: Pick<CopyOptions, 'source' | 'target' | 'bound'>,
  context: Context,
): Promise<CopiedStore> {
  await refuseRetention(options.source, options.target)
  const insist = insistent(context)
  return {
    readings: await copyAllReadings({ ...options, insist }, context),
    statistics: await copyAllStatistics({ ...options, insist }, context),
  }
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
  context: Context,
): Promise<CopiedRows> {
  const { source } = options
  const [[first], [last]] = await Promise.all([
    source.rangeAll(0, Number.MAX_SAFE_INTEGER, 1, undefined, 'asc'),
    source.rangeAll(0, Number.MAX_SAFE_INTEGER, 1),
  ])
  if (first === undefined || last === undefined) return { compared: 0, written: 0 }
  const spanMs = Math.max(1, last.timeMs - first.timeMs)
  using progress = openProgress({ ...context, label: 'readings', total: 100 })
  return await copyReadings({
    ...options,
    onDay: ({ compared, written, startMs }) =>
      progress.at(
        Math.floor(Math.min(1, Math.max(0, (startMs + dayMs - first.timeMs) / spanMs)) * 100),
        `${new Date(startMs).toISOString().slice(0, 10)}: ${compared} compared, ${written} written`,
      ),
  })
}

async function copyAllStatistics(
  options: Pick<CopyOptions, 'source' | 'target' | 'insist'>,
  context: Context,
): Promise<CopiedStatistics> {
  using progress = openProgress({ ...context, label: 'statistics', total: 100 })
  return await copyStatistics({
    ...options,
    nowMs: Date.now(),
    onDone: (done, all) =>
      progress.at(Math.floor((done / all) * 100), `${done} of ${all} areas and sensors`),
  })
}

const insistent =
  ({ note, stop }: Context): CopyOptions['insist'] =>
  async (work) => {
    const untilMs = performance.now() + patienceMs
    for (let waitMs = secondMs; ; waitMs = Math.min(2 * waitMs, 8 * secondMs)) {
      stop.throwIfAborted()
      try {
        return await work()
      } catch (error) {
        const mayPass = error instanceof StoreUnavailable && !isDiskFull(error)
        if (!mayPass || performance.now() > untilMs) throw error
        note(`${error.message}: trying again`)
        await pause(waitMs, stop)
      }
    }
  }
