/** What the gate knows of a sensor's way in: its key, its sign-ins, its connections. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { SilenceReason } from '../core/state/why-silent.ts'
import { secondMs } from '../core/time.ts'
import type { Credential } from '../schemas/devices/credential.ts'
import type { OpenConnection } from '../schemas/devices/open-connection.ts'
import type { Seen } from '../schemas/devices/seen.ts'
import { accessSubject, connectionsSubject } from '../schemas/subjects.ts'
import type { Rejected } from './rejected-messages.ts'

/** Times are ISO 8601. */
export type KeyState = {
  readonly key: 'none' | 'good' | 'revoked'
  /** Since when. */
  readonly key_at?: string
  /** Until when the former credential is valid too. */
  readonly previous_key_until?: string
}

/** What the gate answers at `gate.access.<id>`. */
export type SensorAccess = KeyState & { readonly seen: Seen }

/** Why a sensor does not report, for operators: it has addresses. */
export type SensorSilence = {
  readonly reason: SilenceReason
  /** null: no gate answers. */
  readonly access: SensorAccess | null
  readonly connections: readonly OpenConnection[] | null
  /** Its newest message that was refused. */
  readonly rejected: Rejected | null
}

export function keyStateOf(credential: Credential | undefined, nowMs: number): KeyState {
  if (credential === undefined) return { key: 'none' }
  const { created_at: createdAt, revoked_at: revokedAt, previous } = credential
  return {
    key: revokedAt === undefined ? 'good' : 'revoked',
    key_at: revokedAt ?? createdAt,
    ...(previous !== undefined && Date.parse(previous.until) > nowMs
      ? { previous_key_until: previous.until }
      : {}),
  }
}

/** null: no gate answers. */
export const askAccess = async (nc: NatsConnection, id: string): Promise<SensorAccess | null> =>
  await ask<SensorAccess>(nc, accessSubject(id))

/** Those that are open now; null: no gate answers, or sensors do not sign in to this NATS. */
export const askConnections = async (
  nc: NatsConnection,
  id: string,
): Promise<readonly OpenConnection[] | null> =>
  await ask<readonly OpenConnection[]>(nc, connectionsSubject(id))

/** A page that waits for it is not held longer. */
const gateAnswersWithinMs = 2 * secondMs

async function ask<T>(nc: NatsConnection, subject: string): Promise<T | null> {
  try {
    return (await nc.request(subject, '', { timeout: gateAnswersWithinMs })).json<T>()
  } catch {
    return null
  }
}
