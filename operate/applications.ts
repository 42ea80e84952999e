/** Applications: created, given a new secret, removed. */

import { type KV, type KvEntry, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import { isOwnUser } from '../runtime/engines/nats-users.ts'
import { MustAct, WrongUsage } from '../runtime/exit.ts'
import { jsonOf } from '../runtime/nats/buckets/read-entry.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { changeEntry, unlessOvertaken } from '../runtime/nats/cas.ts'
import {
  type Application,
  applicationFault,
  parseApplication,
} from '../schemas/devices/application.ts'
import { buckets } from '../schemas/subjects.ts'
import { hashOfSecret, newSecret } from './sensor-credentials.ts'

type NewApplication = Omit<Application, 'credential' | 'created_at'>

/** Rejects at once if the bucket does not exist yet. */
export async function openApplications(nc: NatsConnection): Promise<KV> {
  const kv = await new Kvm(nc).open(buckets.applications)
  await kv.status()
  return kv
}

/**
 * Durable when resolved. @returns its secret, which is not stored
 * @throws WrongUsage not valid, or the name of a process  @throws MustAct it exists already
 */
export async function createApplication(
  kv: KV,
  application: NewApplication,
  nowMs: number,
): Promise<string> {
  const secret = newSecret()
  const createdAt = formatIso(nowMs)
  const entry: Application = {
    ...application,
    credential: { hash: hashOfSecret(secret), created_at: createdAt },
    created_at: createdAt,
  }
  const fault = applicationFault(entry)
  if (fault !== undefined) throw new WrongUsage(`the application is not valid: ${fault}`)
  if (isOwnUser(entry.id))
    throw new WrongUsage(
      `${entry.id} is the name of a process of airproof on NATS: give the application another one`,
    )
  if ((await unlessOvertaken(kv.create(entry.id, JSON.stringify(entry)))) === 'overtaken')
    throw new MustAct(
      `there is an application ${entry.id} already: \`airproof applications key ${entry.id}\` gives it a new secret`,
    )
  return secret
}

/**
 * @param overlapMs how long the previous secret stays valid
 * @returns the new one
 * @throws MustAct
 */
export async function renewApplication(
  kv: KV,
  id: string,
  { nowMs, overlapMs }: { readonly nowMs: number; readonly overlapMs: number },
): Promise<string> {
  const secret = newSecret()
  await changeEntry<Application>(kv, id, (read) => {
    const application = inUse(id, read)
    const { hash } = application.credential
    return {
      ...application,
      credential: {
        hash: hashOfSecret(secret),
        created_at: formatIso(nowMs),
        ...(overlapMs > 0 ? { previous: { hash, until: formatIso(nowMs + overlapMs) } } : {}),
      },
    }
  })
  return secret
}

/** Its secret is invalid within a second; readings stay. @throws MustAct there is none */
export async function removeApplication(kv: KV, id: string): Promise<void> {
  const read = await kv.get(id)
  inUse(id, read)
  await kv.delete(id, { previousSeq: read?.revision ?? 0 })
}

/** By id. */
export async function listApplications(nc: NatsConnection): Promise<Application[]> {
  await using bucket = await watchBucket(nc, buckets.applications, parseApplication)
  return [...bucket.entries()]
    .map(([, application]) => application)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** @throws MustAct */
function inUse(id: string, read: KvEntry | null): Application {
  const application = parseApplication(jsonOf(read), id)
  if (application !== undefined) return application
  throw new MustAct(`there is no application ${id}: \`airproof applications list\` shows them`)
}
