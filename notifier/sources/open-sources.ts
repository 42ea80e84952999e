/** What the deliveries are about, read from the streams by sequence and kept a while. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { DeliveryKey } from '../core/delivery/delivery.ts'
import type { WebhookNumber } from '../core/delivery/webhook-id.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import type { ArrivedReading } from '../core/state/log-message.ts'
import { reportBroken } from '../runtime/broken.ts'
import { logReader } from '../runtime/nats/log-messages.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import { type AirEvent, parseEvent } from '../schemas/log/event.ts'
import { eventsStream, readingsStream } from '../schemas/subjects.ts'
import { type Happening, happeningOfEvent, happeningOfReading } from './payload.ts'

export type Sources = {
  /** What a delivery is about; undefined where its stream does not hold it any more. */
  readonly happening: (key: DeliveryKey) => Promise<Happening | undefined>
  /** Saves a read of what has just been seen. */
  readonly remember: (sequence: number, event: AirEvent) => void
  readonly rememberReadings: (sequence: number, readings: readonly ArrivedReading[]) => void
}

type Options = {
  readonly nc: NatsConnection
  readonly keccak: Keccak
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  /** `aqi_threshold` of a webhook, where it has one. */
  readonly thresholdOf: (webhook: WebhookNumber) => number | undefined
}

const eventsKept = 2_000
const readingMessagesKept = 8

export async function openSources({
  nc,
  keccak,
  sensorOf,
  thresholdOf,
}: Options): Promise<Sources> {
  const { direct } = await jetstreamManager(nc, { checkAPI: false })
  const readLog = logReader(nc)
  const events = recent<AirEvent>(eventsKept, async (seq) => {
    const found = await direct.getMessage(eventsStream, { seq })
    return found === null ? undefined : readEvent(found)
  })
  const readings = recent<readonly ArrivedReading[]>(readingMessagesKept, async (seq) => {
    const found = await direct.getMessage(readingsStream, { seq })
    if (found === null) return undefined
    // named one by one: they are getters, which a spread leaves out
    const { subject, header, data } = found
    return (await readLog({ seq, subject, headers: header, data }))?.readings
  })
  return {
    happening: async ({ webhook, kind, sequence, detail }) => {
      if (kind === 'reading.new') {
        const reading = (await readings.get(sequence))?.[detail]
        return reading && happeningOfReading(reading, sensorOf(reading.sensor), keccak)
      }
      const event = await events.get(sequence)
      return event && happeningOfEvent(event, kind, detail, thresholdOf(webhook))
    },
    remember: events.put,
    rememberReadings: readings.put,
  }
}

type StoredEvent = { readonly seq: number; readonly subject: string; readonly data: Uint8Array }

/** undefined: what is there is not an event, which is reported. */
export function readEvent({ seq, subject, data }: StoredEvent): AirEvent | undefined {
  const event = parseEvent(data)
  if (typeof event !== 'string') return event
  reportBroken({ stream: eventsStream, seq, subject, why: event })
  return undefined
}

/** The last `size` things asked for; two who ask for the same at once wait for one answer. */
function recent<T>(size: number, read: (seq: number) => Promise<T | undefined>) {
  const kept = new Map<number, Promise<T | undefined>>()
  const keep = (seq: number, value: Promise<T | undefined>): void => {
    kept.delete(seq)
    kept.set(seq, value)
    if (kept.size <= size) return
    for (const oldest of kept.keys()) {
      kept.delete(oldest)
      return
    }
  }
  return {
    put: (seq: number, value: T): void => keep(seq, Promise.resolve(value)),
    get: (seq: number): Promise<T | undefined> => {
      const found = kept.get(seq)
      if (found !== undefined) return found
      const asked = read(seq)
      keep(seq, asked)
      // a failure is no answer: whoever asks next asks the server
      asked.catch(() => kept.delete(seq))
      return asked
    },
  }
}
