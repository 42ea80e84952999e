import { JetStreamApiError } from '@nats-io/jetstream'
import {
  ConnectionError,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node'
import { TryAgain } from './exit.ts'

/** NATS is unavailable or did not respond in time: a retry may succeed. */
export const isServerAway = (error: unknown): boolean =>
  error instanceof TimeoutError ||
  error instanceof NoRespondersError ||
  error instanceof RequestError ||
  error instanceof ConnectionError ||
  (error instanceof JetStreamApiError && error.status === 503)

/** Turns an error that ends the process into `TryAgain` if a retry may succeed. */
export const orTryAgain = (error: unknown): unknown =>
  isServerAway(error)
    ? new TryAgain('NATS did not respond in time: it may be starting or busy, so try again', {
        cause: error,
      })
    : error
