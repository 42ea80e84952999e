/**
 * Where a source continues. A stream that has come back older (a restored volume, a tail lost in a
 * power failure) assigns the sequences after its end again: new messages would be taken for ones
 * that were matched long ago. So the stream is checked whenever it is followed, and if it has come
 * back older, matching resumes by time.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { minuteMs } from '../../core/time.ts'
import { firstSince, messageAt } from '../../runtime/nats/stored-message.ts'

/** Two servers of a cluster may have led the stream and the ledger, each with its own clock. */
const clockSlackMs = minuteMs

export type Matched = {
  /** The last sequence that was matched. */
  readonly cursor: number
  /** That message was stored at this time or before; ms of the broker. */
  readonly storedMs: number
}

/** @returns the sequence to continue after: `cursor`, if the stream is the same as before */
export async function resumeAfter(
  nc: NatsConnection,
  stream: string,
  { cursor, storedMs }: Matched,
): Promise<number> {
  const { streams } = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await streams.info(stream)
  const at = cursor <= state.last_seq ? await messageAt(nc, stream, cursor) : undefined
  const isAnother = at !== undefined && at.timeMs > storedMs + clockSlackMs
  if (cursor <= state.last_seq && !isAnother) return cursor
  return ((await firstSince(nc, stream, storedMs + 1)) ?? state.last_seq + 1) - 1
}
