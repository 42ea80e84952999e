/**
 * The end of the log in memory: the newest messages that the live picture folded, and the numbers of
 * every partition there. Requests near the end share it, and with it what is made of its readings.
 */
import type { LogMessage } from '../../core/state/log-message.ts'
import type { LogCursor } from '../../schemas/log/log-cursor.ts'
import type { LivePicture } from './live-picture.ts'

/** What there is to tell about a message of the log. */
export type TailMessage = Pick<LogMessage, 'partition' | 'nLast' | 'readings' | 'events'>
export type TailEntry = { readonly seq: number; readonly message: TailMessage }

export type LogTail = {
  /** After everything that was folded; undefined until the picture is live. */
  readonly end: () => LogCursor | undefined
  /** The last message, as a sequence of READINGS. */
  readonly position: () => number
  /** All messages after this one are here. */
  readonly from: () => number
  /** Those after a sequence, in order; undefined: some of them are not here. */
  readonly after: (seq: number) => readonly TailEntry[] | undefined
}

type Options = {
  readonly picture: Pick<LivePicture, 'position' | 'isLive' | 'onFolded' | 'states'>
  readonly network: string
  /** Up to twice as many readings, and messages, are held. */
  readonly capacity?: number
}

/** A listener that needs it as of a message must come after it. */
export function openLogTail({ picture, network, capacity = 20_000 }: Options): LogTail {
  let entries: TailEntry[] = []
  let readings = 0
  let from = picture.position()
  let position = from
  let n: number[] | undefined

  const trim = (): void => {
    let count = 0
    for (; count < entries.length; count++) {
      if (readings <= capacity && entries.length - count <= capacity) break
      const dropped = entries[count]
      if (dropped === undefined) break
      readings -= dropped.message.readings.length
      from = dropped.seq
    }
    entries = entries.slice(count)
  }
  /** The picture was seeded again: it goes on from what is here, or has skipped some. */
  const seeded = (): void => {
    if (picture.position() <= position) return
    entries = []
    readings = 0
    position = picture.position()
    from = position
    n = undefined
  }
  picture.onFolded((message) => {
    if (message === undefined) return seeded()
    const seq = picture.position()
    if (seq <= position) return undefined
    const { partition, nLast, readings: added, events } = message
    entries.push({ seq, message: { partition, nLast, readings: added, events } })
    readings += added.length
    position = seq
    if (n !== undefined) n[partition] = nLast
    if (readings > 2 * capacity || entries.length > 2 * capacity) trim()
    return undefined
  })

  return {
    end: () => {
      if (n === undefined) {
        // before that, the state of a partition may be ahead of the position
        if (!picture.isLive()) return undefined
        position = picture.position()
        n = picture.states().map((state) => state.n)
      }
      return { version: 1, network, position, n: [...n] }
    },
    position: () => position,
    from: () => from,
    after: (seq) => {
      if (seq < from) return undefined
      return entries.slice(countUpTo(entries, seq))
    },
  }
}

/** How many of the entries are at the sequence or before it. */
function countUpTo(entries: readonly TailEntry[], seq: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}
