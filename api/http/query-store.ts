/**
 * Every query of a request to the store goes through here. Accounts and visitors have separate
 * pools, each with its own lanes into the store, so an account's query waits only for other
 * accounts, however many queries visitors send; inside a pool turns are fair.
 */
import { secondMs } from '../../core/time.ts'
import type { Store } from '../../store/store.ts'
import type { Asker } from './answer.ts'
import { type FairLineBounds, fairLine } from './fair-line.ts'

/**
 * @param work reads with `store.within(signal)`
 * @throws ApiError 503 when there is no answer in time, 499 when the client has gone
 */
export type QueryStore = <T>(
  asker: Asker,
  work: (store: Store, signal: AbortSignal) => Promise<T>,
) => Promise<T>

/** 503 is written after 25 s at most: before a socket, or the dashboard, gives up (30 s). */
const inTime = { waitMs: 10 * secondMs, workMs: 15 * secondMs }

const accountBounds: FairLineBounds = {
  running: 16,
  // more than its quota of a minute needs
  runningEach: 2,
  waiting: 256,
  waitingEach: 32,
  ...inTime,
}

const visitorBounds: FairLineBounds = {
  running: 4,
  runningEach: 2,
  waiting: 64,
  waitingEach: 16,
  ...inTime,
}

export function openQueryStore(stores: {
  readonly accounts: Store
  readonly visitors: Store
}): QueryStore {
  const accounts = { store: stores.accounts, line: fairLine(accountBounds) }
  const visitors = { store: stores.visitors, line: fairLine(visitorBounds) }
  return ({ isVisitor, share, gone }, work) => {
    const { store, line } = isVisitor ? visitors : accounts
    return line({ share: share(), gone: gone() }, (signal) => work(store, signal))
  }
}
