import { secondMs } from '../../core/time.ts'
import type { Logger } from '../../runtime/log.ts'
import { pause } from '../../runtime/pause.ts'
import type { PublishVerdict, RawPublisher } from './publish-raw.ts'
import type { Spool } from './spool.ts'
import type { Waiting } from './spool-line.ts'

type Options = {
  readonly spool: Spool
  readonly publish: RawPublisher['publish']
  readonly log: Logger
}

/** Messages on their way to NATS at once. */
const window = 256
const isSettled: ReadonlySet<PublishVerdict> = new Set(['stored', 'refused'])
const pauseMs = { shortest: 250, longest: 5 * secondMs }

/**
 * Sends what waits, oldest first, and repeats until NATS takes it. A line counts
 * as sent when its stream has acknowledged it; a segment is deleted when all of its lines are sent.
 * A line that its stream will never take is skipped, so that it does not block those after it.
 */
export function drainSpool({ spool, publish, log }: Options): AsyncDisposable {
  const stop = new AbortController()
  let wake = Promise.withResolvers<void>()
  spool.onAppend(() => wake.resolve())
  const untilWork = (): Promise<void> => wake.promise

  /** @returns what is still waiting */
  const sendOnce = async (waiting: readonly Waiting[]): Promise<readonly Waiting[]> => {
    const left: Waiting[] = []
    for (let from = 0; from < waiting.length && !stop.signal.aborted; from += window) {
      const part = waiting.slice(from, from + window)
      const verdicts = await Promise.all(part.map(({ sensor, body }) => publish(sensor, body)))
      const refused = verdicts.filter((verdict) => verdict === 'refused').length
      if (refused > 0) log.warn({ readings: refused }, 'skipped what NATS will never take')
      left.push(...part.filter((_, place) => !isSettled.has(verdicts[place] ?? 'away')))
      // NATS does not answer: the rest need not wait for it one by one
      if (verdicts.includes('away')) return [...left, ...waiting.slice(from + window)]
    }
    return left
  }
  const drainOne = async (): Promise<boolean> => {
    const segment = await spool.oldest()
    if (segment === undefined) return false
    if (segment.damaged > 0)
      log.warn({ segment: segment.name, lines: segment.damaged }, 'skipped lines that a crash cut')
    let { waiting } = segment
    for (let ms = pauseMs.shortest; ; ms = Math.min(pauseMs.longest, ms * 2)) {
      const before = waiting.length
      waiting = await sendOnce(waiting)
      if (stop.signal.aborted) return false
      if (waiting.length === 0) break
      if (waiting.length < before) ms = pauseMs.shortest
      await pause(ms, stop.signal)
    }
    await spool.remove(segment)
    log.info({ readings: segment.waiting.length }, 'sent what waited for NATS')
    return true
  }
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      wake = Promise.withResolvers()
      try {
        if (await drainOne()) continue
        if (!stop.signal.aborted && spool.bytes() === 0) await untilWork()
      } catch (error) {
        log.error({ err: error }, 'cannot read what waits for NATS: trying again')
        await pause(pauseMs.longest, stop.signal)
      }
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      wake.resolve()
      await running
    },
  }
}
