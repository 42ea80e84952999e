/**
 * What sensors send over HTTP is reported to the gate that looks for floods, so that a sensor has
 * one budget however many ways and gates it uses. A whole city that pushes is one message per
 * second here.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../core/time.ts'
import { spentSubject } from '../schemas/subjects.ts'
import type { InputGuard } from './input-guard.ts'

export type SpentReporter = Disposable & {
  readonly note: (sensor: string, messages: number) => void
}

/** More sensors than this do not push within a second; what the rest sends is then not counted. */
const mostAtOnce = 20_000

export function openSpentReporter(nc: NatsConnection): SpentReporter {
  const spent = new Map<string, number>()
  const report = (): void => {
    if (nc.isClosed() || spent.size === 0) return
    nc.publish(spentSubject, JSON.stringify(Object.fromEntries(spent)))
    spent.clear()
  }
  const timer = setInterval(report, secondMs)
  return {
    note: (sensor, messages) => {
      if (spent.has(sensor) || spent.size < mostAtOnce)
        spent.set(sensor, (spent.get(sensor) ?? 0) + messages)
    },
    [Symbol.dispose]: () => {
      clearInterval(timer)
      report()
    },
  }
}

export function followSpent(
  nc: NatsConnection,
  guard: Pick<InputGuard, 'callback'>,
  onSpent: (sensor: string, messages: number) => void,
): Disposable {
  const subscription = nc.subscribe(spentSubject, {
    callback: guard.callback('server', (error: Error | null, message: Msg) => {
      if (error) return
      for (const [sensor, messages] of Object.entries(message.json<Record<string, unknown>>()))
        if (typeof messages === 'number') onSpent(sensor, messages)
    }),
  })
  return {
    [Symbol.dispose]: () => {
      if (!nc.isClosed()) subscription.unsubscribe()
    },
  }
}
