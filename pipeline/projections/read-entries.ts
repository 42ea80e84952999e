import type { NatsConnection } from '@nats-io/transport-node'
import { followLog } from '../../runtime/nats/follow-log.ts'
import type { ReadEntries } from './store-writer.ts'

/** The rows of the log, message by message, from a sequence on until stopped; foreign ones have none. */
export const readEntriesOf = (nc: NatsConnection): ReadEntries =>
  async function* (fromSeq, stop) {
    const log = await followLog(nc, { fromSeq })
    const close = (): void => void log[Symbol.asyncDispose]()
    stop.addEventListener('abort', close, { once: true })
    try {
      if (stop.aborted) return
      for await (const { seq, message } of log) {
        if (message !== undefined)
          yield { partition: message.partition, seq, rows: message.readings }
      }
    } finally {
      stop.removeEventListener('abort', close)
      await log[Symbol.asyncDispose]()
    }
  }
