import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream'
import { dayMs } from '../../core/time.ts'
import { rawStream } from '../../schemas/subjects.ts'

const keptMs = dayMs

/**
 * Gives back the room of raw messages that are judged and committed: all of them once the stream
 * is half full, else those older than a day. The last one judged stays: recovery compares it.
 */
export async function purgeRaw(
  manager: JetStreamManager,
  partition: number,
  { rawLast, nowMs }: { readonly rawLast: number; readonly nowMs: number },
): Promise<void> {
  if (rawLast === 0) return
  const stream = rawStream(partition)
  const { state, config } = await manager.streams.info(stream)
  if (state.messages === 0 || state.first_seq >= rawLast) return
  // it has come back older: its sequences are given out again, and are not those that were judged
  if (state.last_seq < rawLast) return
  if (state.bytes * 2 > config.max_bytes) {
    await manager.streams.purge(stream, { seq: rawLast })
    return
  }
  if (Date.parse(state.first_ts) > nowMs - keptMs) return
  const young = await firstSince(manager, stream, nowMs - keptMs)
  await manager.streams.purge(stream, { seq: Math.min(rawLast, young ?? rawLast) })
}

async function firstSince(
  manager: JetStreamManager,
  stream: string,
  sinceMs: number,
): Promise<number | undefined> {
  try {
    const first = await manager.direct.getMessage(stream, { start_time: new Date(sinceMs) })
    return first?.seq
  } catch (error) {
    if (error instanceof JetStreamApiError) return undefined
    throw error
  }
}
