import type { Logger } from '../../runtime/log.ts'
import type { Outgoing } from './endpoint.ts'
import type { RawPublisher } from './publish-raw.ts'
import { notNow, PushError } from './push-error.ts'
import type { Spool } from './spool.ts'

type Options = {
  readonly publish: RawPublisher['publish']
  readonly spool: Spool
  readonly log: Logger
}

export type Delivered = 'stored' | 'spooled'

const retryAfterSeconds = { away: 5, full: 30 }

/**
 * Makes a raw message durable: in its stream, or, where its sender stores nothing, on our disk.
 * @throws PushError 503 it is not stored; 413 it is longer than any stream takes
 */
export function createDeliver({
  publish,
  spool,
  log,
}: Options): (message: Outgoing, keeps: boolean) => Promise<Delivered> {
  const keep = async ({ sender, body }: Outgoing): Promise<boolean> => {
    try {
      return await spool.append({ sensor: sender, body })
    } catch (error) {
      log.error({ err: error }, 'cannot keep a reading on the disk')
      throw notNow(503, 'spool_failed', 'neither NATS nor our disk takes it: send it again', 30)
    }
  }
  return async (message, keeps) => {
    const verdict = await publish(message.sender, message.body, message.partition)
    if (verdict === 'stored') return 'stored'
    if (verdict === 'refused')
      throw new PushError(
        413,
        'body_too_large',
        'it is longer than NATS takes: send smaller arrays',
      )
    if (keeps) {
      if (await keep(message)) return 'spooled'
      const seconds = retryAfterSeconds.full
      throw notNow(503, 'spool_full', 'what we keep while NATS is away is full', seconds)
    }
    if (verdict === 'full')
      throw notNow(503, 'raw_full', 'there is no room for readings now', retryAfterSeconds.full)
    throw notNow(503, 'away', 'NATS does not answer: send it again', retryAfterSeconds.away)
  }
}
