/**
 * Reports to the gate what our nats-server denied: the only source is the server's log,
 * which this supervisor reads. Gathered, so that a sensor that is denied thousands of times per
 * second is one message per second and one log line per minute.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { Denied } from '../../runtime/engines/nats-lines.ts'
import { isOwnUser } from '../../runtime/engines/nats-users.ts'
import type { Logger } from '../../runtime/log.ts'
import { deniedSubject } from '../../schemas/subjects.ts'

export type Denials = Disposable & {
  readonly note: (denied: Denied) => void
  /** Reports through this connection from now on, including what was noted before. */
  readonly reportTo: (nc: NatsConnection) => void
}

type Options = { readonly log: Logger; readonly everyMs?: number }

/** At most this number of sensors are counted between two reports. */
const mostAtOnce = 5_000
const quietMs = 60_000

export function openDenials({ log, everyMs = 1_000 }: Options): Denials {
  const counts = new Map<string, number>()
  const loggedMs = new BoundedMap<string, number>(mostAtOnce)
  let to: NatsConnection | undefined

  const logOnce = ({ who, what, subject }: Denied): void => {
    const now = performance.now()
    if (now - (loggedMs.get(who) ?? Number.NEGATIVE_INFINITY) < quietMs) return
    loggedMs.set(who, now)
    const isOurs = isOwnUser(who)
    const words = `${who} may not ${what} ${what === 'publish' ? 'to' : 'to messages of'} ${subject}`
    // one of our own users: this is our mistake
    if (isOurs) log.error(words)
    else log.warn({ sensor: who, subject }, words)
  }
  const report = (): void => {
    if (to === undefined || to.isClosed() || counts.size === 0) return
    to.publish(deniedSubject('up'), JSON.stringify(Object.fromEntries(counts)))
    counts.clear()
  }
  const timer = setInterval(report, everyMs)
  return {
    note: (denied) => {
      logOnce(denied)
      const { who } = denied
      if (counts.has(who) || counts.size < mostAtOnce) counts.set(who, (counts.get(who) ?? 0) + 1)
    },
    reportTo: (nc) => {
      to = nc
    },
    [Symbol.dispose]: () => {
      clearInterval(timer)
      report()
    },
  }
}
