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
  isWithoutLeader(error) ||
  error instanceof TimeoutError ||
  error instanceof NoRespondersError ||
  error instanceof RequestError ||
  error instanceof ConnectionError ||
  (error instanceof JetStreamApiError && error.status === 503)

/**
 * The servers of a cluster are choosing who leads a stream, and meanwhile nothing listens to what is
 * published to it. The client calls that JetStream being off, which it is only if its own API does
 * not respond.
 */
function isWithoutLeader(error: unknown): boolean {
  if (!(error instanceof Error && error.name === 'JetStreamNotEnabled')) return false
  for (let cause = error.cause; cause instanceof Error; { cause } = cause)
    if (cause instanceof NoRespondersError) return !/^\$JS\.API\.(?!DIRECT\.)/.test(cause.subject)
  return false
}

/** Turns an error that ends the process into `TryAgain` if a retry may succeed. */
export const orTryAgain = (error: unknown): unknown =>
  isServerAway(error)
    ? new TryAgain('NATS did not respond in time: it may be starting or busy, so try again', {
        cause: error,
      })
    : error
