import type { NatsConnection } from '@nats-io/transport-node'
import { auditStream, auditSubject } from '../../../schemas/subjects.ts'
import { readSubject } from '../read-subject.ts'

/** The stream stores at most 1,000 of an account. Newest first. @throws Refusal 503 */
export const readAudit = (nc: NatsConnection, account: string): Promise<readonly unknown[]> =>
  readSubject(nc, { stream: auditStream, format: 'audit', subject: auditSubject(account) })
