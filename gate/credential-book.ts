import { timingSafeEqual } from 'node:crypto'
import type { NatsConnection } from '@nats-io/transport-node'
import { checkKey, sensorKeyPrefix } from '../core/access/api-key.ts'
import { type KeyState, keyStateOf } from '../operate/sensor-access.ts'
import { hashOfSecret } from '../operate/sensor-credentials.ts'
import { type PackedBucket, watchPacked } from '../runtime/nats/buckets/packed-bucket.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { type Application, parseApplication } from '../schemas/devices/application.ts'
import { type Credential, parseCredential } from '../schemas/devices/credential.ts'
import { buckets } from '../schemas/subjects.ts'

/**
 * `mistyped`: it is not a sensor's secret, or its check characters do not fit · `unknown`: the id
 * has no credential · `wrong`: it is not its secret · `expired`: it was replaced, and its overlap
 * is over · `revoked`: it would be right.
 */
export type CredentialVerdict = 'ok' | 'unknown' | 'wrong' | 'expired' | 'revoked' | 'mistyped'

export type CredentialBook = AsyncDisposable & {
  /** From memory, without I/O; it takes as long for a wrong secret as for a right one. */
  readonly check: (id: string, secret: string) => CredentialVerdict
  /** Until when an `ok` secret stays so, ms since the epoch; undefined: until it is replaced. */
  readonly untilMs: (id: string, secret: string) => number | undefined
  /** Clients that signed in before its last change may stay: no secret ended with it. */
  readonly mayStay: (id: string) => boolean
  /**
   * Whether no secret that was valid when a connection was opened is valid now: its overlap is
   * over, or it was replaced, revoked or deleted while no gate was there to see it.
   * @param openedMs ms since the epoch
   */
  readonly hasOutlived: (id: string, openedMs: number) => boolean
  /** Without anything of the secret. */
  readonly stateOf: (id: string) => KeyState
  readonly size: () => number
  /**
   * Calls back whenever a credential was made, changed or deleted.
   * @param isNew there was none
   */
  readonly onChange: (listener: (id: string, isNew: boolean) => void) => () => void
  /** Resolves when memory holds everything that was written before the call. */
  readonly barrier: () => Promise<void>
  /** For the image of bucket `credentials`. */
  readonly held: Pick<PackedBucket<Credential>, 'source' | 'imageFault'>
}

type Options = {
  readonly nowMs?: () => number
  /** One line for the log. */
  readonly onNotice?: (line: string) => void
}

/** Resolves when all credentials are in memory; changes follow as the server reports them. */
export async function openCredentialBook(
  nc: NatsConnection,
  { nowMs = Date.now, onNotice = () => undefined }: Options = {},
): Promise<CredentialBook> {
  const bucket = await watchPacked(nc, buckets.credentials, { parse: parseCredential, onNotice })
  return {
    ...verdictsOf(bucket.get, nowMs),
    stateOf: (id) => keyStateOf(bucket.get(id), nowMs()),
    size: bucket.size,
    onChange: (listener) =>
      bucket.onChange(({ key, before }) => listener(key, before === undefined)),
    barrier: bucket.barrier,
    held: bucket,
    [Symbol.asyncDispose]: () => bucket[Symbol.asyncDispose](),
  }
}

/** The same of applications, of which some hundreds are held as they are. */
export type ApplicationBook = AsyncDisposable &
  Pick<CredentialBook, 'check' | 'untilMs' | 'mayStay' | 'hasOutlived' | 'barrier'> & {
    readonly get: (id: string) => Application | undefined
    /** Calls back whenever one was made, changed or removed. */
    readonly onChange: (listener: (id: string) => void) => () => void
  }

export async function openApplicationBook(
  nc: NatsConnection,
  nowMs: () => number = Date.now,
): Promise<ApplicationBook> {
  const bucket = await watchBucket(nc, buckets.applications, parseApplication)
  return {
    ...verdictsOf((id) => bucket.get(id)?.credential, nowMs),
    get: bucket.get,
    onChange: (listener) => bucket.onChange(({ key }) => listener(key)),
    barrier: bucket.barrier,
    [Symbol.asyncDispose]: () => bucket[Symbol.asyncDispose](),
  }
}

function verdictsOf(
  credentialOf: (id: string) => Credential | undefined,
  nowMs: () => number,
): Pick<CredentialBook, 'check' | 'untilMs' | 'mayStay' | 'hasOutlived'> {
  return {
    check: (id, secret) => {
      if (checkKey(sensorKeyPrefix, secret) !== 'ok') return 'mistyped'
      const credential = credentialOf(id)
      return credential === undefined ? 'unknown' : verdictOf(credential, secret, nowMs())
    },
    untilMs: (id, secret) => {
      const { hash, previous } = credentialOf(id) ?? {}
      return previous === undefined || hash === hashOfSecret(secret)
        ? undefined
        : Date.parse(previous.until)
    },
    mayStay: (id) => isOverlapRunning(credentialOf(id), nowMs()),
    hasOutlived: (id, openedMs) => {
      const credential = credentialOf(id)
      if (isOverlapRunning(credential, nowMs())) return false
      if (credential === undefined || credential.revoked_at !== undefined) return true
      return openedMs < Date.parse(credential.created_at)
    },
  }
}

/** Whether the secret before the present one is still valid. */
const isOverlapRunning = (credential: Credential | undefined, nowMs: number): boolean =>
  credential !== undefined &&
  credential.revoked_at === undefined &&
  Date.parse(credential.previous?.until ?? '') > nowMs

/** Whether a secret is the one of an entry. */
function verdictOf(
  { hash, previous, revoked_at: revokedAt }: Credential,
  secret: string,
  nowMs: number,
): CredentialVerdict {
  const given = Buffer.from(hashOfSecret(secret), 'hex')
  const isCurrent = timingSafeEqual(given, Buffer.from(hash, 'hex'))
  const isPrevious = timingSafeEqual(given, Buffer.from(previous?.hash ?? hash, 'hex'))
  if (!isCurrent && !isPrevious) return 'wrong'
  if (revokedAt !== undefined) return 'revoked'
  if (isCurrent) return 'ok'
  return nowMs < Date.parse(previous?.until ?? '') ? 'ok' : 'expired'
}
