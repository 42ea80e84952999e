/**
 * How the workers of a process meet the border between leaf 1 and leaf 2 (`core/state/border.ts`).
 *
 *     below ──level 3──▶ mark ──committed──▶ waiting ──every partition has a mark──▶ above
 *
 * Killed at any step, the next worker of the partition reads from the last message of its log where
 * it is: without a mark it commits one, with one it waits. The mark passes the fence like any other
 * commit, so a former worker that still runs is fenced by it. Raw messages wait in RAW meanwhile.
 */

import { partitionCount } from '../../core/air/sensor-id.ts'
import {
  areAllMarked,
  type BorderStep,
  borderStep,
  type LeafVersion,
  leafVersionOf,
} from '../../core/state/border.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { followLog } from '../../runtime/nats/follow-log.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { readSnapshot } from '../../runtime/nats/read-snapshot.ts'
import { readUpTo } from '../../runtime/nats/read-up-to.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { stopped } from '../../runtime/process/stop-signal.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import type { Log } from './commit.ts'

/** What is known of the marks of all partitions; shared by the workers of a process. */
export type Marks = {
  readonly areAll: () => boolean
  /** Resolves when every partition has its mark, or the process stops. @param fromSeq of one mark */
  readonly untilAll: (fromSeq: number) => Promise<void>
}

const retryMs = 250

export function watchMarks(log: Pick<Log, 'nc' | 'pause' | 'stop' | 'onRetry'>): Marks {
  const versions = new Map<number, LeafVersion>()
  const note = (message: LogMessage | undefined): void => {
    if (message?.leafVersion === 2) versions.set(message.partition, 2)
  }
  let isEvery = false
  const areAll = (): boolean => (isEvery ||= areAllMarked(versions))

  const follow = async (fromSeq: number): Promise<void> => {
    // opened before the last messages are read: what is written meanwhile is seen here
    await using entries = await followLog(log.nc, { fromSeq: fromSeq + 1 })
    const close = (): void => void entries[Symbol.asyncDispose]()
    log.stop.addEventListener('abort', close, { once: true })
    try {
      for (let partition = 0; partition < partitionCount; partition++)
        note(await lastOfLog(log, partition))
      if (areAll() || log.stop.aborted) return
      for await (const { message } of entries) {
        note(message)
        if (areAll()) return
      }
    } finally {
      log.stop.removeEventListener('abort', close)
    }
  }

  const watch = async (fromSeq: number): Promise<void> => {
    while (!areAll() && !log.stop.aborted) {
      try {
        await follow(fromSeq)
      } catch (error) {
        if (error instanceof NewerFormat) throw error
        log.onRetry(error)
        await log.pause(retryMs)
      }
    }
  }

  let watching: Promise<void> | undefined
  return { areAll, untilAll: (fromSeq) => (watching ??= watch(fromSeq)) }
}

/** A foreign message may be the last of a subject: then the log is read on from the snapshot. */
async function lastOfLog(
  { nc }: Pick<Log, 'nc'>,
  partition: number,
): Promise<LogMessage | undefined> {
  const subject = readingsSubject(partition)
  const stored = await lastMessage(nc, readingsStream, subject)
  if (stored === undefined) return undefined
  const read = logReader(nc)
  let last = await read(stored)
  if (last !== undefined) return last
  const fromSeq = (await readSnapshot(nc, partition))?.state.readingsSeq ?? 1
  const span = { subjects: [subject], fromSeq, endSeq: stored.seq }
  for await (const entry of readUpTo(nc, readingsStream, span)) last = (await read(entry)) ?? last
  return last
}

type BorderParts = {
  readonly log: Pick<Log, 'level'>
  readonly marks: Marks
  /** The partition's last message in the log; undefined before the first. */
  readonly last: LogMessage | undefined
  readonly commitMark: () => Promise<void>
  /** The sequence of the partition's last message in the log. */
  readonly lastSeq: () => number
  /** The worker stops. */
  readonly stop: AbortSignal
}

/** Where one worker is. */
export class Border {
  readonly #parts: BorderParts
  #own: LeafVersion | undefined

  constructor(parts: BorderParts) {
    this.#parts = parts
    this.#own = parts.last && leafVersionOf(parts.last)
  }

  /** Of the readings that are decided now. */
  get leafVersion(): LeafVersion {
    return this.#step() === 'above' ? 2 : 1
  }

  /**
   * Call it before anything is decided: what is decided after it is on one side of the border.
   * @returns false: the worker stops, and must not commit anything
   */
  async pass(): Promise<boolean> {
    for (;;) {
      switch (this.#step()) {
        case 'below':
        case 'above':
          return true
        case 'mark':
          await this.#parts.commitMark()
          this.#own = 2
          break
        case 'waiting':
          if (!(await this.#wait())) return false
          break
      }
    }
  }

  async #wait(): Promise<boolean> {
    const { marks, lastSeq, stop } = this.#parts
    await Promise.race([marks.untilAll(lastSeq()), stopped(stop)])
    return !stop.aborted && marks.areAll()
  }

  #step(): BorderStep {
    const { log, marks } = this.#parts
    const isBornAbove = log.level.isBornAbove ?? false
    return borderStep({
      level: log.level.current(),
      isBornAbove,
      own: this.#own,
      // there are no marks to count then, and this is asked for each reading
      isAllMarked: isBornAbove || marks.areAll(),
    })
  }
}
