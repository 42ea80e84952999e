/**
 * Publishes raw readings as sensors do, many at once: a reading counts as sent when its stream has
 * acknowledged it. What a full stream refuses, or no server answers, is held and sent again under
 * the same message id, so that within two minutes the server takes it once.
 */
import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../core/time.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { fewRepeats } from '../../runtime/few-repeats.ts'
import { newInbox } from '../../runtime/nats/own-inbox.ts'
import { rawStream, spokenSubject } from '../../schemas/subjects.ts'

export type RawPublisher = AsyncDisposable & {
  /**
   * Sends; the promise, where there is one, resolves when there is room for the next.
   * @throws MustAct what the server will never take  @throws TryAgain without an answer
   */
  readonly publish: (sensor: string, body: string | Uint8Array) => Promise<void> | undefined
  /** Resolves when everything sent is acknowledged; throws as `publish` does. */
  readonly drain: () => Promise<void>
  readonly acknowledged: () => number
  /** The highest sequence stored in each RAW stream. */
  readonly stored: ReadonlyMap<number, number>
}

export type RawPublisherOptions = {
  /** Messages without an acknowledgement at any time. */
  readonly window?: number
  /** Without an answer for this time, a message is sent again. */
  readonly ackTimeoutMs?: number
  /** How long it waits for any answer before it gives up. */
  readonly patienceMs?: number
  /** The streams are full, or do not answer: what was sent is held and tried again. */
  readonly onHeld?: (why: string) => void
  /** Called once after it: everything sent is acknowledged. */
  readonly onTaken?: () => void
  readonly stop?: AbortSignal | undefined
  /**
   * The subject for a sensor's readings; by default the one that the sensor itself publishes to.
   */
  readonly subjectOf?: (sensor: string) => string
}

/** For a person: one line at first, one a minute, and one when it is over. */
export function heldNotes(
  note: (line: string) => void,
): Required<Pick<RawPublisherOptions, 'onHeld' | 'onTaken'>> {
  const line = 'readings are held and sent again'
  const { isFirst, isOver } = fewRepeats({ say: note })
  return {
    onHeld: (why) => {
      if (isFirst(line)) note(`${line}: ${why}`)
    },
    onTaken: () => isOver(line),
  }
}

type Sent = {
  readonly subject: string
  readonly body: string | Uint8Array
  sentAtMs: number
}

type Wish = PromiseWithResolvers<void>

const longestPauseMs = 2 * secondMs
const partitions = new Map(Array.from({ length: 64 }, (_, p) => [rawStream(p), p]))

export function openRawPublisher(
  nc: NatsConnection,
  {
    window = 1_000,
    ackTimeoutMs = 5 * secondMs,
    patienceMs = 60 * secondMs,
    onHeld,
    onTaken,
    stop,
    subjectOf = spokenSubject,
  }: RawPublisherOptions = {},
): RawPublisher {
  const inbox = newInbox(nc)
  const idPrefix = inbox.slice(-22)
  const sent = new Map<number, Sent>()
  const held = new Map<number, Sent>()
  const stored = new Map<number, number>()
  let count = 0
  let acknowledged = 0
  let answeredAtMs = performance.now()
  let pauseMs = 0
  let failure: Error | undefined
  let room: Wish | undefined
  let empty: Wish | undefined
  let retry: NodeJS.Timeout | undefined
  let hasHeld = false

  const fail = (error: Error): void => {
    failure ??= error
    room?.reject(failure)
    empty?.reject(failure)
  }
  const settle = (): void => {
    if (held.size === 0 && sent.size < window) {
      room?.resolve()
      room = undefined
    }
    if (held.size + sent.size > 0) return
    if (hasHeld) onTaken?.()
    hasHeld = false
    empty?.resolve()
    empty = undefined
  }
  const send = (id: number, message: Sent): void => {
    message.sentAtMs = performance.now()
    sent.set(id, message)
    const head = headers()
    head.set('Nats-Msg-Id', `${idPrefix}.${id}`)
    nc.publish(message.subject, message.body, { reply: `${inbox}.${id}`, headers: head })
  }
  const hold = (id: number, message: Sent, why: string): void => {
    sent.delete(id)
    held.set(id, message)
    if (retry !== undefined) return
    hasHeld = true
    onHeld?.(why)
    pauseMs = Math.min(longestPauseMs, Math.max(100, pauseMs * 2))
    retry = setTimeout(() => {
      retry = undefined
      if (nc.isClosed()) return fail(new TryAgain('the connection to NATS was closed'))
      const again = [...held]
      held.clear()
      for (const [heldId, heldMessage] of again) send(heldId, heldMessage)
    }, pauseMs)
  }
  const answer = (message: Msg): void => {
    const id = Number(message.subject.slice(inbox.length + 1))
    const answered = sent.get(id)
    // An answer to an earlier attempt of a held message is too late; the next attempt gets another.
    if (answered === undefined) return
    const verdict = readAck(message)
    if (verdict.kind !== 'no_stream') answeredAtMs = performance.now()
    switch (verdict.kind) {
      case 'stored':
        sent.delete(id)
        acknowledged += 1
        pauseMs = 0
        if ((stored.get(verdict.partition) ?? 0) < verdict.seq)
          stored.set(verdict.partition, verdict.seq)
        settle()
        break
      case 'later':
      case 'no_stream':
        hold(id, answered, verdict.why)
        break
      case 'never':
        fail(new MustAct(`NATS refuses ${answered.subject}: ${verdict.why}`))
        break
    }
  }
  const subscription = nc.subscribe(`${inbox}.*`, {
    callback: (_error, message) => answer(message),
  })
  const watch = setInterval(
    () => {
      const nowMs = performance.now()
      for (const [id, message] of sent) {
        if (nowMs - message.sentAtMs < ackTimeoutMs) break
        hold(id, message, 'no stream answers')
      }
      if (sent.size + held.size === 0) answeredAtMs = nowMs
      else if (nowMs - answeredAtMs > patienceMs)
        fail(
          new TryAgain(`NATS has acknowledged nothing for ${Math.round(patienceMs / secondMs)} s`),
        )
    },
    Math.min(secondMs, ackTimeoutMs),
  )
  const onStop = (): void => fail(new TryAgain('stopped before everything was sent'))
  stop?.addEventListener('abort', onStop, { once: true })

  return {
    stored,
    acknowledged: () => acknowledged,
    publish(sensor, body) {
      if (failure !== undefined) return Promise.reject(failure)
      send(count++, { subject: subjectOf(sensor), body, sentAtMs: 0 })
      if (held.size === 0 && sent.size < window) return undefined
      room ??= Promise.withResolvers()
      return room.promise
    },
    drain() {
      if (failure !== undefined) return Promise.reject(failure)
      if (held.size + sent.size === 0) return Promise.resolve()
      empty ??= Promise.withResolvers()
      return empty.promise
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(watch)
      clearTimeout(retry)
      stop?.removeEventListener('abort', onStop)
      if (!nc.isClosed()) subscription.unsubscribe()
    },
  }
}

type Verdict =
  | { readonly kind: 'stored'; readonly partition: number; readonly seq: number }
  /** `later`: the stream is full; `no_stream`: no stream listens; `never`: our mistake. */
  | { readonly kind: 'later' | 'no_stream' | 'never'; readonly why: string }

type Ack = {
  readonly stream?: string
  readonly seq?: number
  readonly error?: { readonly code: number; readonly description: string }
}

function readAck(message: Msg): Verdict {
  if (message.data.length === 0) return { kind: 'no_stream', why: 'no stream takes readings' }
  const { stream = '', seq, error } = message.json<Ack>()
  const partition = partitions.get(stream)
  if (error === undefined && partition !== undefined && seq !== undefined)
    return { kind: 'stored', partition, seq }
  if (error === undefined) return { kind: 'never', why: `it is stored in "${stream}"` }
  // 503 is the server's word for "not now": the stream is full, or has no leader; 429: its disk is
  // busy
  return { kind: [429, 503].includes(error.code) ? 'later' : 'never', why: error.description }
}
