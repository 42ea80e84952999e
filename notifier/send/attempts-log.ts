/**
 * Attempts go to ATT for people to read; no state is recovered from them. So no process waits for
 * an acknowledgement, and a server that is away costs at most the attempts under way.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { attemptSubject } from '../../schemas/subjects.ts'
import type { Attempt } from '../../schemas/webhooks/attempt.ts'

export type AttemptsLog = (attempt: Attempt) => void

export const attemptsLog =
  (nc: NatsConnection): AttemptsLog =>
  (attempt) => {
    if (!nc.isClosed()) nc.publish(attemptSubject(attempt.webhook), JSON.stringify(attempt))
  }
