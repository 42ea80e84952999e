import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as soon } from 'node:timers/promises'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { pause } from '../../runtime/pause.ts'
import { encodeLogCursor, type LogCursor } from '../../schemas/log/log-cursor.ts'
import type { LogAfter, Missing } from '../live/log-after.ts'
import type { GapOf } from '../live/log-gap.ts'
import { afterMessage } from '../live/log-place.ts'
import type { TailEntry } from '../live/log-tail.ts'
import { cursorOf, type EventId } from './event-ids.ts'
import { type Frame, type FrameForm, framesOf, joined } from './frames.ts'

export type Replay = {
  readonly id: EventId
  /** The id as the client sent it. */
  readonly given: string
  readonly out: ServerResponse
  readonly wants: ((sensor: SensorId) => boolean) | undefined
  readonly form: FrameForm
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal
  /**
   * Called when everything up to this place has been sent and the live stream is no further: in the
   * same turn of the event loop, so that no message is lost between the two.
   */
  readonly onCaughtUp: (place: LogCursor) => void
}

type Options = {
  readonly log: LogAfter
  readonly gapOf: GapOf
  readonly textOf: (reading: Reading) => string
  /** Where the live stream is: the replay ends there. */
  readonly place: () => LogCursor | undefined
}

/** After this many frames other clients get their turn. */
const framesAtOnce = 100
const unreadBytes = 64 * 1024
/** Between two looks at a log that is not as far as the client. */
const againMs = 100

/** Sends what the log holds after an id; an event `gap` replaces what it does not hold any more. */
export function createReplay(options: Options): (replay: Replay) => Promise<void> {
  const { log, textOf, place } = options

  const send = async (entry: TailEntry, cursor: LogCursor, replay: Replay): Promise<void> => {
    const { out, wants, form, gone } = replay
    let frames: Frame[] = []
    const write = async (): Promise<void> => {
      if (frames.length > 0) out.write(joined(frames, form))
      frames = []
      if (out.writableLength > unreadBytes) await once(out, 'drain', { signal: gone })
      else await soon()
    }
    for (const frame of framesOf(entry, { cursor, form, textOf, wants })) {
      frames.push(frame)
      if (frames.length === framesAtOnce) await write()
    }
    await write()
  }

  return async (replay) => {
    const { gone, onCaughtUp } = replay
    let cursor = await begin(replay, options)
    while (!gone.aborted) {
      const now = place()
      if (cursor === undefined) {
        if (now !== undefined) return onCaughtUp(now)
      } else {
        if (now !== undefined && isCaughtUp(cursor, now)) return onCaughtUp(cursor)
        for await (const entry of log.after(cursor.position, gone)) {
          await send(entry, cursor, replay)
          cursor = afterMessage(entry, cursor)
          if (gone.aborted) return undefined
        }
        const then = place()
        if (then !== undefined && isCaughtUp(cursor, then)) return onCaughtUp(cursor)
      }
      await pause(againMs, gone)
    }
    return undefined
  }
}

/** Not while the client has a part of the next message, which the live stream would send whole. */
const isCaughtUp = (cursor: LogCursor, live: LogCursor): boolean =>
  cursor.position >= live.position &&
  cursor.events === undefined &&
  cursor.n.every((number, partition) => number <= (live.n[partition] ?? 0))

/** @returns undefined if it is not of this log: the client receives what is new */
async function begin(
  { id, given, out }: Replay,
  { log, gapOf }: Options,
): Promise<LogCursor | undefined> {
  const from = 'seq' in id ? await continueFormer(id, log) : await log.continueFrom(id)
  const tell = (oldest: LogCursor | null, missing?: Missing): void => {
    const gap = missing === undefined ? { from: null, to: null, archive: null } : gapOf(missing)
    const data = { after: given, oldest: oldest && encodeLogCursor(oldest), ...gap }
    out.write(`event: gap\ndata: ${JSON.stringify(data)}\n\n`)
  }
  if ('refused' in from) {
    tell(null)
    return undefined
  }
  if (from.missing !== undefined) tell(from.cursor, from.missing)
  return from.cursor
}

async function continueFormer(id: Extract<EventId, { seq: number }>, log: LogAfter) {
  const { seq, place } = id
  const { first, last } = await log.ends()
  // a log that ends before the id is not the log that it came from
  if (seq > last) return { refused: 'future' } as const
  const next = place === undefined ? seq + 1 : seq
  if (next >= first) return { cursor: await cursorOf(id, log) }
  return { cursor: await log.placeAt(first - 1), missing: { firstSeq: next, lastSeq: first - 1 } }
}
