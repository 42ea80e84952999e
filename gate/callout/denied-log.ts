/**
 * Tells of sign-ins that were denied: once per device and hour, with how many there were since it was
 * told of last. A device that was removed, or has an old key, tries again every few seconds for ever,
 * and a stranger may try with any name: beyond so many devices they share one line.
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
  /** Devices that are told of by name in an hour. */
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
  /** In the order in which they were told of. */
  const told = new Map<string, { readonly atMs: number; more: number }>()

  const forgetOld = (now: number): void => {
    for (const [name, { atMs }] of told) {
      if (now - atMs < hourMs) return
      told.delete(name)
    }
  }
  return ({ user, reason, protocol, address }) => {
    const now = nowMs()
    const shown = user.slice(0, longestShown)
    if (!told.has(shown) && told.size >= most) forgetOld(now)
    const name = told.has(shown) || told.size < most ? shown : others
    const before = told.get(name)
    if (before !== undefined && now - before.atMs < hourMs) {
      before.more++
      return
    }
    told.delete(name)
    told.set(name, { atMs: now, more: 0 })
    const times = before === undefined || before.more === 0 ? {} : { notShown: before.more }
    const said = { reason, protocol, address, ...times }
    if (name === others) log.warn(said, 'more devices are not let in: the metrics count them')
    else log.warn({ user: name, ...said }, 'a device is not let in')
  }
}
