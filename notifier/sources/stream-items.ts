/** Items that are messages of one stream, by that stream's own sequences. */
import { type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { openPull } from '../../runtime/nats/pull.ts'
import { readUpTo } from '../../runtime/nats/read-up-to.ts'
import { firstSince } from '../../runtime/nats/stored-message.ts'
import { resumeAfter } from './resume.ts'
import type { Source, SourceItem } from './source.ts'

type StreamOptions = {
  readonly stream: string
  readonly subjects: readonly string[]
  /** How many to read ahead: an event is a kilobyte, a message of READINGS up to 512. */
  readonly maxMessages: number
  /** Called once each time the stream is read: the reader gets the messages in order. */
  readonly itemReader: () => (message: JsMsg) => SourceItem | Promise<SourceItem>
}

/** The parts of a source that follow from its stream. */
export function streamItems(
  nc: NatsConnection,
  { stream, subjects, maxMessages, itemReader }: StreamOptions,
): Pick<Source, 'follow' | 'read' | 'resumeAfter' | 'cursorSince'> {
  return {
    async *follow(fromSeq, stop) {
      await using pull = await openPull(nc, { stream, subjects, fromSeq, maxMessages })
      const close = (): void => void pull[Symbol.asyncDispose]()
      stop.addEventListener('abort', close, { once: true })
      try {
        if (stop.aborted) return
        const itemOf = itemReader()
        for await (const message of pull) yield await itemOf(message)
      } finally {
        stop.removeEventListener('abort', close)
      }
    },
    async *read(fromSeq, endSeq) {
      const itemOf = itemReader()
      for await (const message of readUpTo(nc, stream, { subjects, fromSeq, endSeq, maxMessages }))
        yield await itemOf(message)
    },
    resumeAfter: (matched) => resumeAfter(nc, stream, matched),
    cursorSince: async (sinceMs) => {
      const { streams } = await jetstreamManager(nc, { checkAPI: false })
      // requested first: messages stored meanwhile are after it
      const { state } = await streams.info(stream)
      return ((await firstSince(nc, stream, sinceMs)) ?? state.last_seq + 1) - 1
    },
  }
}

/** The fields that every item of a message has. */
export const commonOf = ({ seq, info }: JsMsg) => ({
  sequence: seq,
  storedMs: info.timestampNanos / 1_000_000,
  pending: info.pending,
})
