/**
 * Bounded work, in fair turns. Each share (an account, or a visitor's network) has its own line,
 * and places go round the shares: however much one share sends, another share's first request waits
 * only for the work under way and for one turn of each share before it.
 *
 *     queued ─no place──▶ in line ──its turn──▶ running ──▶ answered
 *                           │ too long, or line full: 503      │ too long: 503
 *                           └ client gone: leaves the line     └ client gone: the work is aborted
 *
 * A place is free when its work has really ended, not when its client was answered: work that
 * cannot be aborted is still counted.
 */
import { type ApiError, clientGone, unavailable } from './api-error.ts'

export type Turn = {
  readonly share: string
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal
}

/**
 * @param work its signal is aborted when no client needs the answer any more
 * @throws ApiError 503 when the answer would come too late, 499 when the client has gone
 */
export type FairLine = <T>(turn: Turn, work: (signal: AbortSignal) => Promise<T>) => Promise<T>

export type FairLineBounds = {
  /** How much runs at once, in total and per share. */
  readonly running: number
  readonly runningEach: number
  /** How much waits in line, in total and per share. */
  readonly waiting: number
  readonly waitingEach: number
  /** The longest wait in line, then 503; absent: without a limit. */
  readonly waitMs?: number
  /** The longest work, then 503; absent: without a limit. */
  readonly workMs?: number
}

type Waiter = { readonly start: () => void; readonly refuse: (error: ApiError) => void }
type Share = { running: number; readonly line: Set<Waiter> }

export function fairLine(bounds: FairLineBounds): FairLine {
  const { running, runningEach, waiting, waitingEach, waitMs, workMs } = bounds
  /** The share whose turn is next comes first. */
  const shares = new Map<string, Share>()
  let busy = 0
  let inLine = 0

  const hasRoom = (share: Share): boolean => busy < running && share.running < runningEach
  const start = (name: string, share: Share, waiter: Waiter): void => {
    busy++
    share.running++
    // to the end of the round
    shares.delete(name)
    shares.set(name, share)
    waiter.start()
  }
  const leave = (share: Share, waiter: Waiter): void => {
    if (share.line.delete(waiter)) inLine--
  }
  const next = (): void => {
    // a share that is given a place goes to the end of the round
    for (const [name, share] of shares) {
      const [first] = share.line
      if (first === undefined) {
        if (share.running === 0) shares.delete(name)
      } else if (hasRoom(share)) {
        leave(share, first)
        start(name, share, first)
      }
    }
  }
  /** When the line is full, the newest request of the share with the most in it makes room. */
  const makeRoom = (share: Share): void => {
    if (share.line.size >= waitingEach) throw overloaded()
    if (inLine < waiting) return
    const longest = [...shares.values()].reduce((a, b) => (b.line.size > a.line.size ? b : a))
    const newest = [...longest.line].at(-1)
    if (newest === undefined || longest.line.size <= share.line.size + 1) throw overloaded()
    newest.refuse(overloaded())
  }

  return <T>({ share: name, gone }: Turn, work: (signal: AbortSignal) => Promise<T>) => {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const stop = new AbortController()
    const share = shares.get(name) ?? { running: 0, line: new Set() }
    shares.set(name, share)
    let timer: NodeJS.Timeout | undefined
    const within = (ms: number | undefined, otherwise: () => ApiError): void => {
      clearTimeout(timer)
      timer = ms === undefined ? undefined : setTimeout(() => waiter.refuse(otherwise()), ms)
    }
    const onGone = (): void => waiter.refuse(clientGone())
    const settle = (): void => {
      clearTimeout(timer)
      gone.removeEventListener('abort', onGone)
    }
    const run = async (): Promise<void> => {
      within(workMs, tooSlow)
      try {
        resolve(await work(stop.signal))
      } catch (error) {
        reject(error)
      }
      settle()
      busy--
      share.running--
      next()
    }
    const waiter: Waiter = {
      start: () => void run(),
      refuse: (error) => {
        settle()
        leave(share, waiter)
        reject(error)
        stop.abort(error)
      },
    }
    if (gone.aborted) reject(clientGone())
    else if (hasRoom(share)) {
      gone.addEventListener('abort', onGone, { once: true })
      start(name, share, waiter)
    } else {
      try {
        makeRoom(share)
        share.line.add(waiter)
        inLine++
        gone.addEventListener('abort', onGone, { once: true })
        within(waitMs, overloaded)
      } catch (error) {
        reject(error)
      }
    }
    return promise
  }
}

const overloaded = (): ApiError =>
  unavailable('overloaded', 'too many requests to the history are waiting: try again later')
const tooSlow = (): ApiError =>
  unavailable('took_too_long', 'the history took too long to read: try again, or ask for less')
