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
  isWithoutJetStream(error) ||
  error instanceof TimeoutError ||
  error instanceof NoRespondersError ||
  error instanceof RequestError ||
  error instanceof ConnectionError ||
  (error instanceof JetStreamApiError && error.status === 503)

/**
 * Nothing listens to a subject of JetStream: the servers of a cluster are choosing who leads the stream, or
 * a server reads its configuration again and has no API for a second or so. A server without JetStream
 * looks the same (`airproof doctor` names it).
 */
const isWithoutJetStream = (error: unknown): boolean =>
  error instanceof Error && error.name === 'JetStreamNotEnabled'

/** Turns an error that ends the process into `TryAgain` if a retry may succeed. */
export const orTryAgain = (error: unknown): unknown =>
  isServerAway(error)
    ? new TryAgain(
        isWithoutJetStream(error)
          ? 'JetStream of the NATS server does not respond: it is starting or busy, so try again, or its configuration has no `jetstream`'
          : 'NATS did not respond in time: it may be starting or busy, so try again',
        { cause: error },
      )
    : error
