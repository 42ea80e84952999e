import { JetStreamApiError } from '@nats-io/jetstream'
import {
  ConnectionError,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node'
import { TryAgain } from './exit.ts'

/** NATS did not answer, or not yet: the same call may succeed later. */
export const isServerAway = (error: unknown): boolean =>
  error instanceof TimeoutError ||
  error instanceof NoRespondersError ||
  error instanceof RequestError ||
  error instanceof ConnectionError ||
  (error instanceof JetStreamApiError && error.status === 503)

/** What a process makes of an error that ends it: an answer that did not come may come later. */
export const orTryAgain = (error: unknown): unknown =>
  isServerAway(error)
    ? new TryAgain('NATS did not answer in time: it may be starting or busy', { cause: error })
    : error
