/**
 * Logs sign-ins that were denied: once per device and hour, with the number of denials since its
 * last line. A device that was removed, or has an old credential, tries again every few seconds for
 * ever, and a stranger may try with any name: beyond `most` devices they share one line.
 */
import { hourMs } from '../../core/time.ts'
import type { Logger } from '../../runtime/log.ts'

export type DeniedSignIn = {
  readonly user: string
  readonly reason: string
  readonly protocol: string
  readonly address: string
}

type Options = {
  readonly log: Pick<Logger, 'warn'>
  /** A clock that never goes back, ms. */
  readonly nowMs?: () => number
  /** Devices that are logged by name in an hour. */
  readonly most?: number
}

const longestShown = 60
/** In place of a name. */
const others = ''

export function deniedLog({
  log,
  nowMs = () => performance.now(),
  most = 200,
}: Options): (denied: DeniedSignIn) => void {
  /** In the order in which they were logged. */
  const logged = new Map<string, { readonly atMs: number; more: number }>()

  const forgetOld = (now: number): void => {
    for (const [name, { atMs }] of logged) {
      if (now - atMs < hourMs) return
      logged.delete(name)
    }
  }
  return ({ user, reason, protocol, address }) => {
    const now = nowMs()
    const shown = user.slice(0, longestShown)
    if (!logged.has(shown) && logged.size >= most) forgetOld(now)
    const name = logged.has(shown) || logged.size < most ? shown : others
    const before = logged.get(name)
    if (before !== undefined && now - before.atMs < hourMs) {
      before.more++
      return
    }
    logged.delete(name)
    logged.set(name, { atMs: now, more: 0 })
    const times = before === undefined || before.more === 0 ? {} : { notShown: before.more }
    const fields = { reason, protocol, address, ...times }
    if (name === others) log.warn(fields, 'more devices are not let in: the metrics count them')
    else log.warn({ user: name, ...fields }, 'a device is not let in')
  }
}
