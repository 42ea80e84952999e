/** Which sensors are not let in for a while, as every gate knows it. */

import type { NatsConnection } from '@nats-io/transport-node'
import { BoundedMap } from '../../core/bounded-map.ts'
import { pauseSubject } from '../../schemas/subjects.ts'

export type Pauses = Disposable & {
  /** 0: it is let in. */
  readonly leftMs: (id: string) => number
  /** Published to every running gate. */
  readonly pause: (id: string, untilMs: number) => void
}

type Options = {
  readonly nowMs: () => number
  readonly onPause: (id: string, untilMs: number) => void
}

/** At most this number of sensors pause at once; beyond it the oldest pause ends. */
const mostPauses = 100_000

/** @param nc as user `gate` */
export function openPauses(nc: NatsConnection, { nowMs, onPause }: Options): Pauses {
  const untilMs = new BoundedMap<string, number>(mostPauses)
  const subscription = nc.subscribe(pauseSubject('*'), {
    callback: (error, message) => {
      if (error) return
      const id = message.subject.slice(pauseSubject('').length)
      const until = Number(message.string())
      if (!Number.isFinite(until)) return
      untilMs.set(id, until)
      onPause(id, until)
    },
  })
  return {
    leftMs: (id) => {
      const left = (untilMs.get(id) ?? 0) - nowMs()
      if (left > 0) return left
      untilMs.delete(id)
      return 0
    },
    pause: (id, until) => nc.publish(pauseSubject(id), String(until)),
    [Symbol.dispose]: () => {
      if (!nc.isClosed()) subscription.unsubscribe()
    },
  }
}
