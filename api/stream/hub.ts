/**
 * Sends what the log holds to all listeners. A reading is encoded once in each form, however many
 * listeners there are; readings that arrive within a moment are one write to each. A client that does not
 * read what it is sent is disconnected: it reconnects and continues after the last event it has.
 */
import type { ServerResponse } from 'node:http'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { secondMs } from '../../core/time.ts'
import { encodeLogCursor, type LogCursor } from '../../schemas/log/log-cursor.ts'
import type { LivePicture } from '../live/live-picture.ts'
import type { Entry } from '../live/sensor-now.ts'
import { type Frame, type FrameForm, framesOf, joined } from './frames.ts'

export type Listener = {
  readonly out: ServerResponse
  /** undefined: every sensor. @param entry of that sensor; undefined: it is not known now */
  readonly wants: ((sensor: SensorId, entry: Entry | undefined) => boolean) | undefined
  /** All that it wants are at this area now. */
  readonly area?: string | undefined
  readonly form: FrameForm
  /** Throws when it may not listen any more. */
  readonly checkAgain: () => void
}

export type StreamHub = Disposable & {
  /** After everything that was sent to all listeners, or is about to be; undefined: not known now. */
  readonly place: () => LogCursor | undefined
  readonly isLive: () => boolean
  readonly size: () => number
  /** Keeps the line alive and judges it until it is closed; events are sent once it has joined. */
  readonly keep: (listener: Listener) => void
  /** From now on it is sent everything after a whole message. */
  readonly join: (listener: Listener, after: LogCursor) => void
  /** Ends every stream; no client can join afterwards. */
  readonly end: () => void
}

type Options = {
  readonly picture: Pick<LivePicture, 'position' | 'isLive' | 'onFolded'>
  /** After everything that the picture has folded: `LogTail`. */
  readonly place: () => LogCursor | undefined
  readonly textOf: (reading: Reading) => string
  readonly entryOf: (sensor: SensorId) => Entry | undefined
  /** For how long messages are gathered into one write, ms. */
  readonly gatherMs?: number
  readonly pingMs?: number
  /** Between two looks at whether a listener still may. */
  readonly judgeMs?: number
  /** Bytes that may wait for a listener. */
  readonly mostUnread?: number
}

type Line = Listener & {
  /** undefined: it has not joined yet. */
  after: LogCursor | undefined
  /** Bytes that had left us at the last ping. */
  sent: number
  stalledPings: number
  /** How many times in a row it was not known whether it may listen. */
  unknown: number
}

/**
 * Until it is known again nothing arrives that could be sent. A moment in which this process, or NATS, was busy is over by
 * then; each listener would read the log again.
 */
const mostUnknown = 10
/**
 * After this many pings in a row without a byte leaving, a listener with bytes waiting is closed.
 */
const mostStalledPings = 2

export function createStreamHub({
  picture,
  place,
  textOf,
  entryOf,
  gatherMs = 50,
  pingMs = 15 * secondMs,
  judgeMs = secondMs,
  mostUnread = 256 * 1024,
}: Options): StreamHub {
  const lines = new Set<Line>()
  const lineOf = new WeakMap<Listener, Line>()
  let position = picture.position()
  let pending: Pending[] = []
  let gathering: NodeJS.Timeout | undefined
  let isStopped = false

  const end = (line: Line, code: string): void => {
    lines.delete(line)
    if (line.out.writableEnded) return
    line.out.end(`event: end\ndata: ${JSON.stringify({ code })}\n\n`)
  }
  const endAll = (code: string): void => {
    flush()
    for (const line of lines) end(line, code)
  }

  picture.onFolded((message: LogMessage | undefined) => {
    const seq = picture.position()
    // the picture was seeded again, and reports messages that were sent before
    if (seq <= position) return
    // or it skipped some: a client that reconnects gets them from the log
    const isNext = message !== undefined && seq === position + 1
    if (!isNext && position > 0) endAll('interrupted')
    position = seq
    if (message === undefined || lines.size === 0) return
    const after = place()
    if (after === undefined) return endAll('interrupted')
    const cursor = beforeMessage(message, after)
    const encode = (form: FrameForm): readonly Frame[] => [
      ...framesOf({ seq, message }, { cursor, form, textOf }),
    ]
    pending.push({ seq, framesIn: onceEach(encode) })
    gathering ??= setTimeout(flush, gatherMs)
  })

  const flush = (): void => {
    clearTimeout(gathering)
    gathering = undefined
    const gathered = pending
    pending = []
    const [first] = gathered
    if (first === undefined) return
    // a sensor is looked up once, however many listeners there are
    const placed = onceEach((form) =>
      gathered.flatMap(({ seq, framesIn }) =>
        framesIn(form).map((frame) => ({ seq, frame, entry: entryOf(frame.sensor) })),
      ),
    )
    const byArea = onceEach((form) => Map.groupBy(placed(form), ({ entry }) => entry?.area))
    const all = onceEach((form) =>
      joined(
        gathered.flatMap(({ framesIn }) => framesIn(form)),
        form,
      ),
    )
    for (const line of lines) {
      const { wants, area, form, after } = line
      if (after === undefined) continue
      if (wants === undefined && after.position < first.seq) {
        send(line, all(form))
        continue
      }
      const own: Frame[] = []
      const candidates = area === undefined ? placed(form) : (byArea(form).get(area) ?? [])
      for (const { seq, frame, entry } of candidates)
        if (seq > after.position && (wants === undefined || wants(frame.sensor, entry)))
          own.push(frame)
      send(line, joined(own, form))
    }
  }

  const send = (line: Line, bytes: Buffer | string): void => {
    const { out } = line
    if (bytes.length === 0 || out.destroyed || out.writableEnded) return
    // what waits was written before: a large write alone says nothing of the client
    if (out.writableLength > mostUnread) out.destroy()
    else out.write(bytes)
  }

  const ping = (): void => {
    flush()
    const now = place()
    const nowId = now && idLine(now)
    for (const line of lines) {
      const { out, after } = line
      const waiting = out.writableLength
      const sent = (out.socket?.bytesWritten ?? 0) - waiting
      line.stalledPings = waiting > 0 && sent === line.sent ? line.stalledPings + 1 : 0
      line.sent = sent
      if (line.stalledPings >= mostStalledPings) {
        out.destroy()
        continue
      }
      // named, because a page's EventSource sees no comments; its id moves the client on, past everything
      // that its filter left out
      const isAhead = after !== undefined && after.position > position
      const at = after === undefined ? '' : isAhead ? idLine(after) : (nowId ?? '')
      send(line, `event: ping\n${at}data: {}\n\n`)
    }
  }
  const judge = (): void => {
    for (const line of lines) {
      const refused = refusalOf(line)
      line.unknown = refused === 'keys_unknown' ? line.unknown + 1 : 0
      if (refused !== undefined && (line.unknown === 0 || line.unknown === mostUnknown))
        end(line, refused)
    }
  }
  const timers = [setInterval(ping, pingMs), setInterval(judge, judgeMs)]

  const stop = (): void => {
    isStopped = true
    for (const timer of timers) clearInterval(timer)
    endAll('stopping')
  }

  return {
    place,
    isLive: () => !isStopped && picture.isLive(),
    size: () => lines.size,
    keep: (listener) => {
      const line: Line = {
        ...listener,
        after: undefined,
        sent: -1,
        stalledPings: 0,
        unknown: 0,
      }
      lines.add(line)
      lineOf.set(listener, line)
      listener.out.once('close', () => lines.delete(line))
      if (isStopped) end(line, 'stopping')
    },
    join: (listener, after) => {
      const line = lineOf.get(listener)
      if (line !== undefined) line.after = after
    },
    end: stop,
    [Symbol.dispose]: stop,
  }
}

/** Why it may not listen any more, as a code; undefined: it may. */
function refusalOf({ checkAgain }: Listener): string | undefined {
  try {
    checkAgain()
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'refused'
  }
}

/** What was folded and is not sent yet. */
type Pending = { readonly seq: number; readonly framesIn: (form: FrameForm) => readonly Frame[] }

/** Makes the value of a form when it is first needed. */
function onceEach<T>(make: (form: FrameForm) => T): (form: FrameForm) => T {
  const made = new Map<FrameForm, T>()
  return (form) => {
    const known = made.get(form)
    if (known !== undefined) return known
    const value = make(form)
    made.set(form, value)
    return value
  }
}

/** @param after what there is after the message */
const beforeMessage = (
  { partition, nLast, readings }: LogMessage,
  after: LogCursor,
): LogCursor => ({ ...after, n: after.n.with(partition, nLast - readings.length) })

export const idLine = (cursor: LogCursor): string => `id: ${encodeLogCursor(cursor)}\n`
