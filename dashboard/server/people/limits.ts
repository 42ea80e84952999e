/**
 * How often something may be tried. Kept in each process's memory: with several processes as many
 * times as often, which is still far from what guessing a password takes.
 */
import { hash, randomBytes } from 'node:crypto'
import { minuteMs, secondMs } from '../../../core/time.ts'
import { type RateBy, rateBy } from '../rate-by.ts'

export type Limits = {
  /** Sign-in for one address of mail from one network. */
  readonly pair: RateBy
  /** Sign-in from one network, whoever it is for. */
  readonly network: RateBy
  /** Sign-in for one address of mail, from all browsers that are not known to it. */
  readonly email: RateBy
  /** Sign-in from one browser that is known to the address; the three above do not count then. */
  readonly known: RateBy
  /** The password asked again of somebody signed in, by account. */
  readonly password: RateBy
  /** What may cause a mail, from one network. */
  readonly asking: RateBy
  /** Mails that a stranger may have asked for, to one address and in all; more are not sent, and the page does not say so. */
  readonly mailing: RateBy
  /** Of those, links for a new password, so that no other mail uses up the way back in. */
  readonly resetting: RateBy
  /**
   * Links for a new address of an account, to one address. Counted apart from `mailing`: what strangers
   * ask for stops nobody who is signed in.
   */
  readonly moving: RateBy
  /** A new password by one link, so that a link costs no more than a few hashes. */
  readonly link: RateBy
  /** Failed sign-ins written into an account's audit log: they must not push out the rest. */
  readonly telling: RateBy
  /** Exports of an account. */
  readonly exporting: RateBy
}

export function createLimits(clockMs: () => number): Limits {
  const of = (
    burst: number,
    everyMs: number,
    rest: { readonly siteFactor?: number; readonly most?: number } = {},
  ): RateBy => rateBy({ limit: { perSecond: secondMs / everyMs, burst }, clockMs, ...rest })
  const ofAddress = (burst: number, everyMs: number): RateBy =>
    inSlots(of(burst, everyMs, { most: slots }))
  return {
    pair: of(5, minuteMs),
    network: of(60, 2 * secondMs, { siteFactor: 10 }),
    email: ofAddress(100, minuteMs),
    known: of(5, minuteMs),
    password: of(5, minuteMs),
    // a few sites alone do not use up what all may mail
    asking: of(10, minuteMs, { siteFactor: 3 }),
    mailing: inAll(ofAddress(5, 10 * minuteMs), of(500, 3 * secondMs)),
    resetting: ofAddress(5, 10 * minuteMs),
    moving: ofAddress(5, 10 * minuteMs),
    link: of(5, minuteMs),
    telling: of(20, 10 * minuteMs),
    exporting: of(5, minuteMs),
  }
}

const slots = 131_072

/**
 * Names share a fixed number of slots, so none is ever forgotten: a stranger who tries many other
 * addresses does not get new tries at this one. Who shares a slot with whom only this process knows.
 */
function inSlots({ take, tryTake, forget }: RateBy): RateBy {
  const key = randomBytes(16).toString('hex')
  const slotOf = (who: string): string =>
    String(hash('sha256', `${key} ${who}`, 'buffer').readUInt32BE() % slots)
  return {
    take: (who) => take(slotOf(who)),
    tryTake: (who) => tryTake(slotOf(who)),
    forget: (who) => forget(slotOf(who)),
  }
}
/** Both: each name's own limit, and one for all names together. */
const inAll = (each: RateBy, all: RateBy): RateBy => ({
  ...each,
  take: (who) => {
    each.take(who)
    all.take('all')
  },
  tryTake: (who) => each.tryTake(who) && all.tryTake('all'),
})
