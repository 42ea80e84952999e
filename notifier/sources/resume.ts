/**
 * Where a source goes on. A stream that has come back older (a restored volume, a tail that was lost
 * with the power) gives the sequences after its end out again: what is new in it would be taken for
 * what was matched long ago. So it is looked at whenever it is followed, and is resumed by time then.
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
  /** That message was stored then, or before; ms of the broker. */
  readonly storedMs: number
}

/** @returns the sequence to go on after: `cursor`, where the stream is what it was */
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
