/**
 * How often something may be tried. In each process's memory: N processes allow N times as many
 * tries, which is still far from what guessing a password takes.
 */
import { hash, randomBytes } from 'node:crypto'
import { minuteMs, secondMs } from '../../../core/time.ts'
import { type RateBy, rateBy } from '../rate-by.ts'

export type Limits = {
  /** Sign-in for one address of mail from one network. */
  readonly pair: RateBy
  /** Sign-in from one network, to any account. */
  readonly network: RateBy
  /** Sign-in for one address of mail, from all browsers that are not known to it. */
  readonly email: RateBy
  /** Sign-in from one browser that is known to the address; the three above do not count then. */
  readonly known: RateBy
  /** The password requested again of a signed-in person, by account. */
  readonly password: RateBy
  /** Requests that may cause a mail, from one network. */
  readonly asking: RateBy
  /**
   * Mails that a stranger may have requested, to one address and in all; more are not sent, and the
   * page does not show it.
   */
  readonly mailing: RateBy
  /** Of those, links for a new password, so that other mails do not use up the way back in. */
  readonly resetting: RateBy
  /**
   * Links for a new address of an account, to one address. Counted apart from `mailing`, so that
   * strangers' requests do not stop a signed-in person.
   */
  readonly moving: RateBy
  /** A new password by one link, so that a link costs no more than a few hashes. */
  readonly link: RateBy
  /** Failed sign-ins written into an account's audit log: they must not push out the rest. */
  readonly auditing: RateBy
  /** Exports of an account. */
  readonly exporting: RateBy
}

export function createLimits(clockMs: () => number): Limits {
  const rate = (
    burst: number,
    everyMs: number,
    rest: { readonly siteFactor?: number; readonly most?: number } = {},
  ): RateBy => rateBy({ limit: { perSecond: secondMs / everyMs, burst }, clockMs, ...rest })
  const ofAddress = (burst: number, everyMs: number): RateBy =>
    inSlots(rate(burst, everyMs, { most: slots }))
  return {
    pair: rate(5, minuteMs),
    network: rate(60, 2 * secondMs, { siteFactor: 10 }),
    email: ofAddress(100, minuteMs),
    known: rate(5, minuteMs),
    password: rate(5, minuteMs),
    // a few sites do not use up what all may mail
    asking: rate(10, minuteMs, { siteFactor: 3 }),
    mailing: inAll(ofAddress(5, 10 * minuteMs), rate(500, 3 * secondMs)),
    resetting: ofAddress(5, 10 * minuteMs),
    moving: ofAddress(5, 10 * minuteMs),
    link: rate(5, minuteMs),
    auditing: rate(20, 10 * minuteMs),
    exporting: rate(5, minuteMs),
  }
}

const slots = 131_072

/**
 * Names share a fixed number of slots, so none is ever forgotten: a stranger who tries many other
 * addresses does not get new tries at this one. Only this process knows which names share a slot.
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
