/**
 * The last requests of each account, and how many each key made on each day, for the people who look
 * why a program fails. Written in the background, once a second for the accounts that made some:
 * requests never wait for it, and a process that dies loses its last second.
 */
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Count, dayOf, noCount } from '../../core/access/quota.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import { inParallel } from '../../runtime/in-parallel.ts'
import { unlessOvertaken } from '../../runtime/nats/cas.ts'
import {
  decodeCount,
  encodeCount,
  keyQuotaKey,
  otherKeys,
  quotaKey,
} from '../../schemas/people/quota.ts'
import {
  type LoggedRequest,
  longestTarget,
  mostRequests,
  type Requests,
} from '../../schemas/people/requests.ts'
import { buckets, requestsSubject } from '../../schemas/subjects.ts'

export type SeenRequest = {
  readonly account: string
  /** Id of the key. */
  readonly key: string
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly status: number
  /** Of an error. */
  readonly code?: string | undefined
  readonly ms: number
  /** It counts towards the account's day. */
  readonly isCharged: boolean
}

export type RequestLog = AsyncDisposable & { readonly note: (seen: SeenRequest) => void }

type Options = {
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
  /** Bound on the accounts whose requests wait to be written; those of others are not listed. */
  readonly mostAccounts?: number
}

type Noted = {
  requests: LoggedRequest[]
  leftOut: number
  /** `<day>.<account>.<key>` → requests. */
  readonly counts: Map<string, number>
}

const everyMs = secondMs
const timeoutMs = 2 * secondMs
const writesAtOnce = 16
const mostTries = 10
/** Of an account and day: the server reads 1,024 entries at once. */
const mostKeys = 200
/** Accounts' days whose keys are remembered. */
const mostDays = 10_000

export async function openRequestLog(
  nc: NatsConnection,
  { nowMs, onFailure, mostAccounts = 10_000 }: Options,
): Promise<RequestLog> {
  const js = jetstream(nc, { timeout: timeoutMs })
  const quota = await new Kvm(js).open(buckets.quota)
  let noted = new Map<string, Noted>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined

  const ofDay = new BoundedMap<string, Set<string>>(mostDays)
  /** The key, or `other` once this process has counted 200 of the account on that day. */
  const countedAs = (day: string, account: string, key: string): string => {
    const name = quotaKey(day, account)
    const known = ofDay.get(name) ?? new Set()
    if (!known.has(key) && known.size >= mostKeys) return otherKeys
    ofDay.set(name, known.add(key))
    return key
  }
  const count = async (key: string, more: number): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries++) {
      const read = await quota.get(key)
      const before =
        read === null || read.operation !== 'PUT' ? noCount : decodeCount(read.string())
      const after: Count = { ...before, used: before.used + more }
      const write = quota.put(key, encodeCount(after), { previousSeq: read?.revision ?? 0 })
      if ((await unlessOvertaken(write)) !== 'overtaken') return
    }
  }
  const writeOne = async (account: string, { requests, leftOut, counts }: Noted): Promise<void> => {
    const message: Requests = { requests, left_out: leftOut }
    try {
      await js.publish(requestsSubject(account), JSON.stringify(message))
      for (const [key, more] of counts) await count(key, more)
    } catch (error) {
      // a log for people: what it lost is not asked for again
      onFailure(error)
    }
  }
  const writeAll = async (): Promise<void> => {
    const batch = [...noted]
    noted = new Map()
    await inParallel(batch, writesAtOnce, ([account, one]) => writeOne(account, one))
    writing = undefined
    if (noted.size > 0) later()
  }
  /** Unless it is planned or under way: what is noted meanwhile waits, within its bounds. */
  const later = (): void => {
    if (writing !== undefined) return
    timer ??= setTimeout(() => {
      timer = undefined
      writing = writeAll()
    }, everyMs).unref()
  }
  return {
    note: ({ account, key, method, url, status, code, ms, isCharged }) => {
      let one = noted.get(account)
      if (one === undefined) {
        if (noted.size >= mostAccounts) return
        one = { requests: [], leftOut: 0, counts: new Map() }
        noted.set(account, one)
      }
      const atMs = nowMs()
      if (one.requests.length < mostRequests)
        one.requests.push({
          at: formatIsoMs(atMs),
          key,
          method,
          target: withoutToken(url).slice(0, longestTarget),
          status,
          ms: Math.max(0, Math.round(ms)),
          ...(code === undefined ? {} : { code }),
        })
      else one.leftOut++
      if (isCharged) {
        const day = dayOf(atMs)
        const counter = keyQuotaKey(day, account, countedAs(day, account, key))
        one.counts.set(counter, (one.counts.get(counter) ?? 0) + 1)
      }
      later()
    },
    [Symbol.asyncDispose]: async () => {
      await writing
      clearTimeout(timer)
      await writeAll()
      clearTimeout(timer)
    },
  }
}

/** A stream's token opens the stream for a minute. */
const withoutToken = (url: string): string =>
  url.includes('token=') ? url.replaceAll(/([?&]token=)[^&]*/g, '$1…') : url
