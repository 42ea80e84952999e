/**
 * What the projections of a process need of a message of the log: its readings as packed rows. They are made
 * once, when this process commits the message or first reads it, and shared by the store writer, statistics
 * and neighbours; the message itself is garbage as soon as it is committed.
 */
import type { ArrivedReading, LogMessage } from '../core/state/log-message.ts'
import { isFresh } from '../core/state/presence.ts'
import type { Digest } from '../runtime/nats/log-messages.ts'
import { type PackedReadings, packReadings } from '../store/packed-readings.ts'
import { sortOutFaulty } from '../store/row-fault.ts'
import type { RefusedRow, StoreRow } from '../store/store.ts'

export type LogRows = {
  readonly partition: number
  /** Sequence in READINGS. */
  readonly seq: number
  readonly rows: PackedReadings
  /** Of its readings those that no engine may take; they are not in `rows`. */
  readonly faulty: readonly RefusedRow[]
}

/** Rows and all: about 10 MB. */
const mostReadings = 100_000

/** Only the log knows when a reading arrived: whether it was fresh is stored with it. */
const rowOf = (reading: ArrivedReading): StoreRow =>
  isFresh(reading.timeMs, reading.arrivedMs) ? reading : { ...reading, isBackfill: true }

type Kept = {
  readonly of: Pick<LogMessage, 'worker' | 'rawLast' | 'nLast'>
  readonly size: number
  readonly rows: LogRows
}

/** The newest messages, as far as this process has committed or read them. */
export class RowsAtHand implements Digest<LogRows> {
  readonly #most: number
  readonly #kept = new Map<number, Kept>()
  #readings = 0
  #newest = 0
  #waiting: (() => void)[] = []

  constructor(most: number = mostReadings) {
    this.#most = most
  }

  /** A message that is committed, or was read. */
  readonly of = (message: LogMessage, seq: number): LogRows => {
    const known = this.known(message, seq)
    if (known !== undefined) return known
    const { partition, worker, rawLast, nLast, readings } = message
    const { fit, refused } = sortOutFaulty(readings.map(rowOf))
    const rows = { partition, seq, rows: packReadings(fit), faulty: refused }
    this.#keep(seq, { of: { worker, rawLast, nLast }, size: readings.length + 1, rows })
    for (const wake of this.#waiting.splice(0)) wake()
    return rows
  }

  readonly known = (
    { partition, worker, rawLast, nLast }: Pick<LogMessage, 'partition'> & Kept['of'],
    seq: number,
  ): LogRows | undefined => {
    const kept = this.#kept.get(seq)
    const isSame =
      kept?.rows.partition === partition &&
      kept.of.worker === worker &&
      kept.of.rawLast === rawLast &&
      kept.of.nLast === nLast
    return isSame ? kept.rows : undefined
  }

  at(seq: number): LogRows | undefined {
    return this.#kept.get(seq)?.rows
  }

  /** Of all that it ever had. */
  get newest(): number {
    return this.#newest
  }

  /** @returns when there is another one: true; when `ms` have passed, or `stop` is aborted: false */
  changed(ms: number, stop: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isChanged: boolean): void => {
        clearTimeout(timer)
        stop.removeEventListener('abort', giveUp)
        resolve(isChanged)
      }
      const giveUp = (): void => end(false)
      const timer = setTimeout(giveUp, ms)
      stop.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(() => end(true))
    })
  }

  #keep(seq: number, kept: Kept): void {
    this.#readings += kept.size - (this.#kept.get(seq)?.size ?? 0)
    this.#kept.set(seq, kept)
    this.#newest = Math.max(this.#newest, seq)
    for (const [oldest, { size }] of this.#kept) {
      if (this.#readings <= this.#most) return
      this.#kept.delete(oldest)
      this.#readings -= size
    }
  }
}
