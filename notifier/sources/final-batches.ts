/**
 * The batches that are final on the chain, as EVENTS reports them for 30 days. One reader per
 * process, started by the first request: a batch takes a few hundred bytes, and there are about
 * 4,000.
 */
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { dayMs } from '../../core/time.ts'
import { reportBroken } from '../../runtime/broken.ts'
import { openPull } from '../../runtime/nats/pull.ts'
import { fenceOf, lastMessage } from '../../runtime/nats/stored-message.ts'
import { type AnchoredEvent, parseAnchoredEvent } from '../../schemas/anchoring/batch-record.ts'
import { anchoredSubject, anchoredSubjects, eventsStream } from '../../schemas/subjects.ts'

export type FinalBatch = {
  readonly event: AnchoredEvent
  /** When the broker stored the report. */
  readonly storedMs: number
}

export type FinalBatches = {
  /**
   * The first batch that ends at the given sequence of READINGS or after it; undefined: none yet.
   */
  readonly endingFrom: (seq: number) => Promise<FinalBatch | undefined>
  /** The same, but waits for it; undefined: it was stopped. */
  readonly waitFor: (seq: number, stop: AbortSignal) => Promise<FinalBatch | undefined>
  /** The last READINGS sequence of what was final before that time, ms; 0: nothing was. */
  readonly endBefore: (timeMs: number) => Promise<number>
}

/** As long as EVENTS keeps them. */
const keptMs = 30 * dayMs

export function finalBatches(nc: NatsConnection, stop: AbortSignal): FinalBatches {
  const list: FinalBatch[] = []
  const waiting: (() => void)[] = []
  let loading: Promise<void> | undefined

  /** The batch is anchored in another contract now: what is sent from here on says so. */
  const replace = (event: AnchoredEvent): void => {
    const at = list.findIndex((known) => isSameRange(known.event, event))
    const former = list[at]
    if (former !== undefined) list[at] = { event, storedMs: former.storedMs }
  }

  const take = (batch: FinalBatch): void => {
    // batches are reported in order; any other one is not ours, or is reported again
    if (batch.event.index <= (list.at(-1)?.event.index ?? 0)) return replace(batch.event)
    list.push(batch)
    while ((list[0]?.storedMs ?? batch.storedMs) < batch.storedMs - keptMs) list.shift()
    for (const wake of waiting.splice(0)) wake()
  }

  /** Resolves when every batch reported so far is in the list. */
  const load = async (): Promise<void> => {
    const last = await lastMessage(nc, eventsStream, anchoredSubjects)
    const loaded = Promise.withResolvers<void>()
    if (last === undefined) loaded.resolve()
    const pull = await openPull(nc, {
      stream: eventsStream,
      subjects: [anchoredSubjects],
      fromSeq: 1,
      maxMessages: 1_000,
    })
    stop.addEventListener('abort', () => void pull[Symbol.asyncDispose](), { once: true })
    void (async () => {
      for await (const message of pull) {
        const event = readAnchored(message)
        if (event !== undefined) take({ event, storedMs: message.info.timestampNanos / 1_000_000 })
        if (message.seq >= (last?.seq ?? 0) || message.info.pending === 0) loaded.resolve()
      }
      loaded.resolve()
    })()
    await loaded.promise
  }

  const ready = async (): Promise<void> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    await loading
  }

  const find = (seq: number): FinalBatch | undefined => list[firstEndingFrom(list, seq)]

  const change = (until: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        until.removeEventListener('abort', wake)
        resolve()
      }
      waiting.push(wake)
      until.addEventListener('abort', wake)
    })

  return {
    endingFrom: async (seq) => {
      await ready()
      return find(seq)
    },
    waitFor: async (seq, until) => {
      await ready()
      while (!until.aborted) {
        const batch = find(seq)
        if (batch !== undefined) return batch
        await change(until)
      }
      return undefined
    },
    endBefore: async (timeMs) => {
      await ready()
      return list.findLast(({ storedMs }) => storedMs < timeMs)?.event.last ?? 0
    },
  }
}

const isSameRange = (one: AnchoredEvent, other: AnchoredEvent): boolean =>
  one.index === other.index &&
  one.first === other.first &&
  one.last === other.last &&
  one.root === other.root

function firstEndingFrom(list: readonly FinalBatch[], seq: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle]?.event.last ?? 0) < seq) low = middle + 1
    else high = middle
  }
  return low
}

type StoredEvent = {
  readonly seq: number
  readonly subject: string
  readonly headers?: MsgHdrs | undefined
  readonly data: Uint8Array
}

/** undefined: the message is not the anchor's report of a batch, which is logged. */
function readAnchored({ seq, subject, headers, data }: StoredEvent): AnchoredEvent | undefined {
  const event = parseAnchoredEvent(data)
  const why =
    event === undefined
      ? 'it does not report an anchored batch'
      : subject !== anchoredSubject(event.index)
        ? `it reports batch ${event.index} under the subject of another`
        : fenceOf(headers) === undefined
          ? 'it was published without the fence'
          : undefined
  if (why === undefined) return event
  reportBroken({ stream: eventsStream, seq, subject, why })
  return undefined
}
