/**
 * Where the engine deletes by time alone, a late reading that was written at that moment is gone with the
 * others. Every reading that the archive does not have is still in the log: those of expired days are
 * written again, which changes nothing where they are there.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Catalogue } from '../operate/archive/catalogue.ts'
import { TryAgain } from '../runtime/exit.ts'
import { followLog } from '../runtime/nats/follow-log.ts'
import { readRetention } from '../runtime/nats/retention.ts'
import { readingsStream } from '../schemas/subjects.ts'
import type { Store } from '../store/store.ts'

type Options = {
  readonly nc: NatsConnection
  readonly catalogue: Pick<Catalogue, 'end'>
  readonly stop: AbortSignal
}

/** @throws TryAgain the log does not have all of them any more */
export async function writeLate(
  { nc, catalogue, stop }: Options,
  store: Pick<Store, 'writeBatch'>,
): Promise<void> {
  const { rawBeforeMs } = await readRetention(nc)
  if (rawBeforeMs === null) return
  const from = catalogue.end.position + 1
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await manager.streams.info(readingsStream)
  if (state.last_seq < from) return
  if (state.first_seq > from)
    throw new TryAgain('the log does not go back to where the archive ends: nothing is deleted')
  await using log = await followLog(nc, { fromSeq: from })
  const close = (): void => void log[Symbol.asyncDispose]()
  stop.addEventListener('abort', close, { once: true })
  try {
    for await (const { seq, message } of log) {
      const late = message?.readings.filter(({ timeMs }) => timeMs < rawBeforeMs) ?? []
      if (late.length > 0) await store.writeBatch(late)
      if (seq >= state.last_seq) break
    }
  } finally {
    stop.removeEventListener('abort', close)
  }
  stop.throwIfAborted()
}
