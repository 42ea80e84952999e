import type { JetStreamManager } from '@nats-io/jetstream'
import { dayMs } from '../../core/time.ts'
import { readStored } from '../../runtime/nats/stored-message.ts'
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
  const young = await readStored(manager, stream, { start_time: new Date(nowMs - keptMs) })
  await manager.streams.purge(stream, { seq: Math.min(rawLast, young?.seq ?? rawLast) })
}
