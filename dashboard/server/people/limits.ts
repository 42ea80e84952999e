/**
 * How often something may be tried. Kept in each process's memory: with several processes as many
 * times as often, which is still far from what guessing a password takes.
 */
import { minuteMs, secondMs } from '../../../core/time.ts'
import { type RateBy, rateBy } from '../rate-by.ts'

export type Limits = {
  /** Sign-in for one address of mail from one network. */
  readonly pair: RateBy
  /** Sign-in from one network, whoever it is for. */
  readonly network: RateBy
  /** Sign-in for one address of mail, wherever it comes from. */
  readonly email: RateBy
  /** The password asked again of somebody signed in, by account. */
  readonly password: RateBy
  /** What may cause a mail, from one network. */
  readonly asking: RateBy
  /** Mails that somebody unknown asked for, to one address and in all; more are not sent, and nobody is told. */
  readonly mailing: RateBy
  /** Failed sign-ins written into an account's audit log: they must not push out the rest. */
  readonly telling: RateBy
  /** Exports of an account. */
  readonly exporting: RateBy
}

export function createLimits(clockMs: () => number): Limits {
  const of = (
    burst: number,
    everyMs: number,
    rest: { readonly siteFactor?: number } = {},
  ): RateBy => rateBy({ limit: { perSecond: secondMs / everyMs, burst }, clockMs, ...rest })
  return {
    pair: of(5, minuteMs),
    network: of(60, 2 * secondMs, { siteFactor: 10 }),
    email: of(100, minuteMs),
    password: of(5, minuteMs),
    // a few sites alone do not use up what all may mail
    asking: of(10, minuteMs, { siteFactor: 3 }),
    mailing: inAll(of(5, 10 * minuteMs), of(500, 3 * secondMs)),
    telling: of(20, 10 * minuteMs),
    exporting: of(5, minuteMs),
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
