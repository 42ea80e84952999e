import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { inboxPrefixOf } from '../../runtime/nats/own-inbox.ts'
import { ackSubject, bulkSubject, rawSubject } from '../../schemas/subjects.ts'

export type AllowedSubjects = {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

/**
 * What a sensor may do, and nothing else. The server maps a subject before it checks permissions,
 * so the mapped subject, and only it, must be allowed: with only `air.raw.<id>` a publish fails,
 * with `air.raw.*.<id>` it could store into every partition.
 * @param deviceSubjects those that its firmware fixes, below its own name
 * @param deviceSubscriptions the same, to subscribe to
 */
export const allowedSubjects = (
  id: SensorId,
  deviceSubjects: readonly string[] = [],
  deviceSubscriptions: readonly string[] = [],
): AllowedSubjects => ({
  publish: [rawSubject(partitionOf(id), id), ...deviceSubjects],
  subscribe: [`${inboxPrefixOf(id)}.>`, ackSubject(id), ...deviceSubscriptions],
})

/** What a gateway may do over NATS, and nothing else: the gate judges each of its readings. */
export const gatewaySubjects = (id: string): AllowedSubjects => ({
  publish: [bulkSubject(id)],
  subscribe: [`${inboxPrefixOf(id)}.>`],
})
