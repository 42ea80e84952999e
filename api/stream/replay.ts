import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as soon } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { followLog, type LogEntry } from '../../runtime/nats/follow-log.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import { framesOf, type StreamCursor, writeCursor } from './frames.ts'

export type Replay = {
  readonly cursor: StreamCursor
  readonly out: ServerResponse
  readonly wants: ((sensor: SensorId) => boolean) | undefined
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal
  /**
   * Called when everything up to this message has been sent and the live stream is no further: in
   * the same turn of the event loop, so that no message is lost between the two.
   */
  readonly onCaughtUp: (seq: number) => void
}

type Options = {
  readonly nc: NatsConnection
  readonly textOf: (reading: Reading) => string
  /** Where the live stream is: the replay ends there. */
  readonly position: () => number
}

/** After this many frames other clients get their turn. */
const framesAtOnce = 100
const unreadBytes = 64 * 1024

/**
 * Sends what the log holds after a cursor; an event `gap` replaces what it does not hold any more.
 */
export function createReplay({ nc, textOf, position }: Options): (replay: Replay) => Promise<void> {
  /**
   * @returns the first message to send, undefined if the live stream has everything that follows
   */
  const begin = async (replay: Replay): Promise<number | undefined> => {
    const { cursor, out, onCaughtUp } = replay
    const manager = await jetstreamManager(nc, { checkAPI: false })
    const { first_seq, last_seq } = (await manager.streams.info(readingsStream)).state
    const { seq, place } = cursor
    const next = place === undefined ? seq + 1 : seq
    // a log that ends before the cursor is not the log that the cursor came from
    const isOther = seq > last_seq
    if (isOther || next < first_seq) {
      const oldest = isOther ? null : writeCursor({ seq: first_seq - 1, place: undefined })
      out.write(`event: gap\ndata: ${JSON.stringify({ after: writeCursor(cursor), oldest })}\n\n`)
    }
    if (isOther) {
      onCaughtUp(position())
      return undefined
    }
    const fromSeq = Math.max(next, first_seq)
    if (place !== undefined || fromSeq <= position()) return fromSeq
    onCaughtUp(fromSeq - 1)
    return undefined
  }

  const send = async ({ seq, message }: LogEntry, replay: Replay): Promise<void> => {
    const { cursor, out, wants, gone } = replay
    if (message === undefined) return
    const from = seq === cursor.seq && cursor.place !== undefined ? cursor.place + 1 : 0
    let bytes: Buffer[] = []
    const write = async (): Promise<void> => {
      if (bytes.length > 0) out.write(Buffer.concat(bytes))
      bytes = []
      if (out.writableLength > unreadBytes) await once(out, 'drain', { signal: gone })
      else await soon()
    }
    for (const frame of framesOf(seq, message, textOf, wants)) {
      if (frame.place >= from) bytes.push(frame.bytes)
      if (bytes.length === framesAtOnce) await write()
    }
    await write()
  }

  return async (replay) => {
    const { gone, onCaughtUp } = replay
    if (gone.aborted) return
    const fromSeq = await begin(replay)
    if (fromSeq === undefined) return
    await using follower = await followLog(nc, { fromSeq, maxMessages: 4 })
    const leave = (): void => void follower[Symbol.asyncDispose]()
    gone.addEventListener('abort', leave, { once: true })
    if (gone.aborted) return
    for await (const entry of follower) {
      await send(entry, replay)
      if (gone.aborted) break
      if (entry.seq < position()) continue
      onCaughtUp(entry.seq)
      break
    }
    gone.removeEventListener('abort', leave)
  }
}
