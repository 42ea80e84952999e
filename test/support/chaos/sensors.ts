/**
 * Sensors that publish and remember what was acknowledged. Each sends its next reading only when
 * the last one is acknowledged, and the same one again until it is, so the order of its readings
 * is known whatever is killed in between.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorId } from '../../../core/air/sensor-id.ts'
import type { NamedValues } from '../../../core/air/values.ts'
import { minuteMs } from '../../../core/time.ts'
import { spokenSubject } from '../../../schemas/subjects.ts'
import { bodyOf, measure } from './city.ts'

export type SentReading = {
  readonly sensor: SensorId
  readonly timeMs: number
  readonly values: NamedValues
  /** Sent after a newer one of the same sensor: back-fill. */
  readonly isLate: boolean
}

export type Sensors = {
  /** Resolves when every sensor has stopped, its last reading acknowledged. */
  readonly stop: () => Promise<void>
  /** Each acknowledged reading once, those of a sensor in the order in which they were sent. */
  readonly acknowledged: readonly SentReading[]
  /** How often a reading was repeated on purpose. */
  readonly repeats: () => number
  /** How many messages of rubbish were acknowledged. */
  readonly rubbish: () => number
}

export type SensorsOptions = {
  readonly ids: readonly SensorId[]
  readonly random: () => number
  /** Between two readings of one sensor. */
  readonly everyMs: number
  /** Readings carry the time when they are sent; else the next two apply. */
  readonly isLive?: boolean
  /** Of the first reading; the next are `stepMs` apart, however fast they are sent. */
  readonly startMs?: number
  readonly stepMs?: number
  /** Shares of the messages that are back-fill, a repeat of an old reading, or rubbish. */
  readonly lateShare?: number
  readonly repeatShare?: number
  readonly rubbishShare?: number
}

const ackWithinMs = 1_000
const again = 100

/** One connection for all of them, or what gives each its own. */
type Connections = NatsConnection | ((sensor: SensorId) => NatsConnection)

export function startSensors(nc: Connections, options: SensorsOptions): Sensors {
  const connectionOf = typeof nc === 'function' ? nc : () => nc
  const { ids, random, everyMs, isLive = false, stepMs = 500 } = options
  const { startMs = Date.now() - 25 * minuteMs } = options
  const { lateShare = 0, repeatShare = 0, rubbishShare = 0 } = options
  const acknowledged: SentReading[] = []
  let isStopping = false
  let repeats = 0
  let rubbish = 0

  const publish = async (sensor: SensorId, body: string): Promise<void> => {
    const connection = connectionOf(sensor)
    for (;;) {
      try {
        const answer = await connection.request(spokenSubject(sensor), body, {
          timeout: ackWithinMs,
        })
        if ('seq' in answer.json<object>()) return
      } catch {
        // not acknowledged: whether it was stored is unknown
      }
      await pause(again)
    }
  }

  const speak = async (sensor: SensorId): Promise<void> => {
    const own: SentReading[] = []
    const send = async (timeMs: number, isLate: boolean): Promise<void> => {
      const reading = { sensor, timeMs, values: measure(random), isLate }
      await publish(sensor, bodyOf(sensor, timeMs, reading.values))
      own.push(reading)
      acknowledged.push(reading)
    }
    await pause(random() * everyMs)
    const after = (timeMs: number): number =>
      isLive ? Math.max(timeMs + 1, Date.now()) : timeMs + stepMs
    for (let timeMs = after(startMs); !isStopping; timeMs = after(timeMs)) {
      await send(timeMs, false)
      const dice = random()
      if (dice < lateShare) await send(timeMs - stepMs / 2, true)
      else if (dice < lateShare + repeatShare) {
        const old = own[Math.floor(random() * own.length)]
        if (old !== undefined) await publish(sensor, bodyOf(sensor, old.timeMs, old.values))
        repeats++
      } else if (dice < lateShare + repeatShare + rubbishShare) {
        await publish(sensor, '{"timestamp": 12}')
        rubbish++
      }
      await pause(everyMs * (0.5 + random()))
    }
  }

  const speaking = Promise.all(ids.map(speak))
  return {
    acknowledged,
    repeats: () => repeats,
    rubbish: () => rubbish,
    stop: async () => {
      isStopping = true
      await speaking
    },
  }
}
