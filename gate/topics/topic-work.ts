/** From messages of TOPICS to readings in RAW, acknowledged when they are there. */
import type { JsMsg } from '@nats-io/jetstream'
import { BoundedMap } from '../../core/bounded-map.ts'
import { parseTopic } from '../../core/device-topics.ts'
import { futureToleranceMs, hourMs, minuteMs, secondMs } from '../../core/time.ts'
import type { Logger } from '../../runtime/log.ts'
import type { DeviceIndex } from '../device-index.ts'
import { type Frozen, leaveOutFrozen } from '../devices/frozen.ts'
import type { MappedFields, MappedReading } from '../devices/mapped.ts'
import type { InputGuard } from '../input-guard.ts'
import type { PublishVerdict, RawPublisher } from '../push/publish-raw.ts'
import { rawItem } from '../push/raw-item.ts'
import { createJoiner, type Joined } from './join-parts.ts'
import { type LeftReason, type Understood, understand } from './understand.ts'

type TopicMessage = Pick<JsMsg, 'subject' | 'data' | 'timestampNanos' | 'redelivered'> & {
  readonly info: Pick<JsMsg['info'], 'deliveryCount'>
  readonly ack: () => void
  /** @param ms until it is delivered again */
  readonly nak: (ms?: number) => void
}

/** `not_stored`: delivered again; `refused`: its stream will never take it; `failed`: our fault. */
export type TopicOutcome = LeftReason | 'stored' | 'not_stored' | 'refused' | 'frozen' | 'failed'

type Options = {
  readonly devices: DeviceIndex
  readonly publish: RawPublisher['publish']
  readonly count: (outcome: TopicOutcome, by: number) => void
  readonly failed: InputGuard['failed']
  readonly log: Logger
  /** A clock that never goes back, ms. */
  readonly nowMs: () => number
  /** Sensors of which something is remembered. */
  readonly most?: number
}

export type TopicWork = {
  /**
   * Resolves when there is room for the next. Never throws: a failure is counted and acknowledged.
   */
  readonly take: (message: TopicMessage) => Promise<void>
  /** To be called every second or so. */
  readonly tick: () => void
  /** What is under way is finished; what is open is delivered again. */
  readonly end: () => Promise<void>
}

const mostUnderWay = 256
/** Characters of a topic, or of its message, in a line of the log. */
const longestShown = 200
/** Until an unstored message is delivered again: twice as long each time, a minute at most. */
const againMs = (deliveries: number): number =>
  Math.min(minuteMs, 2 * secondMs * 2 ** Math.min(deliveries - 1, 10))
/** What is wrong with a device is logged this often. */
const loggedEveryMs = hourMs

type Out = {
  readonly sensor: string
  readonly fields: MappedFields
  readonly timeMs: number
  readonly timeAssigned: boolean
}

export function createTopicWork(options: Options): TopicWork {
  const { devices, publish, count, failed, log, nowMs, most = 100_000 } = options
  const underWay = new Set<Promise<void>>()
  const joiner = createJoiner<TopicMessage>()
  const frozen = new BoundedMap<string, Frozen | undefined>(most)
  /** The newest state that was sent of a device that repeats itself. */
  const newestMs = new BoundedMap<string, number>(most)
  const loggedMs = new BoundedMap<string, number>(most)

  const settle = (verdict: PublishVerdict, tokens: readonly TopicMessage[]): void => {
    const isDone = verdict === 'stored' || verdict === 'refused'
    count(isDone ? verdict : 'not_stored', tokens.length)
    for (const token of tokens)
      if (isDone) token.ack()
      else token.nak(againMs(token.info.deliveryCount))
  }
  const send = (
    { sensor, fields, timeMs, timeAssigned }: Out,
    tokens: readonly TopicMessage[],
  ): void => {
    const body = JSON.stringify(rawItem(fields, timeMs, timeAssigned))
    const sending = publish(sensor, body)
      .then((verdict) => settle(verdict, tokens))
      // only a closed connection: they are delivered again to the next gate
      .catch((error: unknown) => failed('topics', error, { sensor }))
      .finally(() => underWay.delete(sending))
    underWay.add(sending)
  }
  const sendJoined = ({ sensor, fields, timeMs, tokens }: Joined<TopicMessage>): void =>
    send({ sensor, fields, timeMs, timeAssigned: true }, tokens)

  const leave = (message: TopicMessage, left: Extract<Understood, { kind: 'left' }>): void => {
    const { reason, sensor, why } = left
    count(reason, 1)
    message.ack()
    if (noFault.has(reason)) return
    const key = `${sensor?.id ?? deviceNameOf(message.subject)} ${reason}`
    const lastMs = loggedMs.get(key)
    if (lastMs !== undefined && nowMs() - lastMs < loggedEveryMs) return
    loggedMs.set(key, nowMs())
    log.warn(
      { sensor: sensor?.id, subject: shortened(message.subject), reason, why: shortened(why) },
      'a device’s message was left out',
    )
  }

  const thawed = (sensor: string, reading: MappedReading, mayFreeze: boolean): MappedReading => {
    if (!mayFreeze) return reading
    const judged = leaveOutFrozen(frozen.get(sensor), reading)
    frozen.set(sensor, judged.frozen)
    if (judged.reading !== reading) count('frozen', 1)
    return judged.reading
  }

  const takeReading = (
    message: TopicMessage,
    { sensor, reading, mayFreeze, mayRepeat }: Extract<Understood, { kind: 'reading' }>,
  ): void => {
    const { fields, timeMs } = thawed(sensor.id, reading, mayFreeze)
    const known = newestMs.get(sensor.id) ?? Number.NEGATIVE_INFINITY
    // a redelivered message, not stored before, may be older than what was stored meanwhile
    if (mayRepeat && timeMs !== undefined && timeMs <= known && !message.redelivered)
      return leave(message, { kind: 'left', reason: 'repeated', sensor })
    if (Object.keys(fields).length === 0)
      return leave(message, { kind: 'left', reason: 'nothing', sensor })
    const out = {
      sensor: sensor.id,
      fields,
      timeMs: timeMs ?? storedAtMs(message),
      timeAssigned: timeMs === undefined,
    }
    // the pipeline refuses a reading from the future: it must not make the true ones look repeated
    const isNews = out.timeMs > known && out.timeMs - storedAtMs(message) <= futureToleranceMs
    if (mayRepeat && isNews) newestMs.set(sensor.id, out.timeMs)
    send(out, [message])
  }

  const handle = (message: TopicMessage): void => {
    const understood = understand(message, devices)
    switch (understood.kind) {
      case 'left':
        leave(message, understood)
        break
      case 'part': {
        const { sensor, quantity, value } = understood
        const part = { sensor: sensor.id, quantity, value, timeMs: storedAtMs(message) }
        joiner.take({ ...part, token: message }, nowMs()).forEach(sendJoined)
        break
      }
      case 'reading':
        takeReading(message, understood)
        break
    }
  }

  return {
    async take(message) {
      try {
        handle(message)
      } catch (error) {
        const { subject, data } = message
        failed('topics', error, { subject: shortened(subject), bytes: data.length })
        count('failed', 1)
        message.ack()
      }
      if (underWay.size >= mostUnderWay) await Promise.race(underWay)
    },
    tick: () => joiner.due(nowMs()).forEach(sendJoined),
    async end() {
      for (const token of joiner.abandon()) token.nak()
      await Promise.all(underWay)
    },
  }
}

const noFault: ReadonlySet<LeftReason> = new Set(['nothing', 'other_quantity', 'repeated'])

/** When the broker stored the message, ms since the epoch: the same when it is delivered again. */
const storedAtMs = ({ timestampNanos }: TopicMessage): number => Number(timestampNanos / 1_000_000n)

/** One bridge may name devices without end: they share one line of the log per hour. */
function deviceNameOf(subject: string): string {
  const { kind, serial } = parseTopic(subject) ?? { kind: '', serial: '' }
  return `${kind} ${serial.split(':', 1)[0] ?? ''}`
}

/** A topic may be 64 KiB long. */
const shortened = <Text extends string | undefined>(text: Text): string | Text =>
  text === undefined || text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`
