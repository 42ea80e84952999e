/**
 * Tells the gate what our nats-server denied: the only place that says so is the server's log,
 * which this supervisor reads. Gathered, so that a sensor that is denied thousands of times a
 * second is one message and one line a while.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import type { Denied } from '../../runtime/engines/nats-lines.ts'
import { ownUsers } from '../../runtime/engines/nats-users.ts'
import type { Logger } from '../../runtime/log.ts'
import { deniedSubject } from '../../schemas/subjects.ts'

export type Denials = Disposable & {
  readonly note: (denied: Denied) => void
  /** From now on they are told here; what was noted before is too. */
  readonly tellTo: (nc: NatsConnection) => void
}

type Options = { readonly log: Logger; readonly everyMs?: number }

/** More sensors than this are not denied something between two looks; the rest is not counted. */
const mostAtOnce = 5_000
const quietMs = 60_000

export function openDenials({ log, everyMs = 1_000 }: Options): Denials {
  const counts = new Map<string, number>()
  const saidMs = new Map<string, number>()
  let to: NatsConnection | undefined

  const say = ({ who, what, subject }: Denied): void => {
    const now = performance.now()
    if (now - (saidMs.get(who) ?? Number.NEGATIVE_INFINITY) < quietMs) return
    saidMs.delete(who)
    saidMs.set(who, now)
    if (saidMs.size > mostAtOnce) saidMs.delete(saidMs.keys().next().value ?? '')
    const isOurs = ownUsers.some((name) => name === who)
    const words = `${who} may not ${what} ${what === 'publish' ? 'to' : 'to messages of'} ${subject}`
    // one of our own is a mistake of ours
    if (isOurs) log.error(words)
    else log.warn({ sensor: who, subject }, words)
  }
  const tell = (): void => {
    if (to === undefined || to.isClosed() || counts.size === 0) return
    to.publish(deniedSubject('up'), JSON.stringify(Object.fromEntries(counts)))
    counts.clear()
  }
  const timer = setInterval(tell, everyMs)
  return {
    note: (denied) => {
      say(denied)
      const { who } = denied
      if (counts.has(who) || counts.size < mostAtOnce) counts.set(who, (counts.get(who) ?? 0) + 1)
    },
    tellTo: (nc) => {
      to = nc
    },
    [Symbol.dispose]: () => {
      clearInterval(timer)
      tell()
    },
  }
}
