/**
 * What it costs to count requests exactly: `node bench/quota.ts [--seconds 5]` prints one JSON
 * document.
 *
 * - `memory`: key, quota and headers of a request, 64 at once, with a bucket that answers at once:
 *   CPU µs per request, of which the hash of the key is `hash`.
 * - `rounds`: requests per second through a real nats-server that syncs every write, 64 in flight,
 * of
 *   one account and of a hundred, and of a hundred with 1,024 in flight; `written` is how many
 *   writes that took.
 * - `naive`: the same with one read and one compare and swap per request.
 */
import { hash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { createKeyGuard } from '../api/access/key-guard.ts'
import { createAdmit } from '../api/admit.ts'
import { type KnownCount, openQuotaBucket, type QuotaBucket } from '../api/quota/bucket.ts'
import { createQuota } from '../api/quota/quota.ts'
import { apiKeyPrefix, makeKey } from '../core/access/api-key.ts'
import { chargeRound, dayOf, noCount } from '../core/access/quota.ts'
import { isWrongLastSequence } from '../runtime/nats/stored-message.ts'
import { ensureStreams } from '../runtime/nats/streams/streams.ts'
import { decodeCount, encodeCount, quotaKey } from '../schemas/people/quota.ts'
import { buckets } from '../schemas/subjects.ts'
import { testNats } from '../test/support/nats.ts'

const { values: flags } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
const seconds = Number(flags.seconds)
const inFlight = 64
const manyInFlight = 1_024
const limits = { perDay: 1e9, perMinute: 1e9 }

/** As fast as possible, so that only our own work is measured. */
function memoryBucket(): QuotaBucket {
  const counts = new Map<string, KnownCount>()
  return {
    known: (key) => counts.get(key),
    read: async (key) => {
      const none = { count: noCount, revision: 0 }
      counts.set(key, none)
      return none
    },
    swap: async (key, { revision }, count) => {
      counts.set(key, { count, revision: revision + 1 })
      return true
    },
  }
}

async function memory() {
  const key = makeKey(apiKeyPrefix, new Uint8Array(64).fill(7))
  const known = {
    id: 'key_1',
    account: 'acc_1',
    name: 'bench',
    hint: '',
    expiresMs: Number.MAX_SAFE_INTEGER,
    isRevoked: false,
    isInternal: false,
  }
  const keys = new Map([[hash('sha256', key), known]])
  const guard = createKeyGuard({
    find: (name) => keys.get(name),
    hasAccount: () => true,
    staleMs: () => 0,
    nowMs: Date.now,
  })
  await using quota = createQuota({
    bucket: memoryBucket(),
    limitsOf: () => limits,
    nowMs: Date.now,
  })
  const admit = createAdmit({
    freshen: async () => undefined,
    guard,
    tokens: { open: async () => '' },
    quota,
    onUsed: () => undefined,
  })
  const credentials = { authorization: `Bearer ${key}` }
  const one = async (): Promise<void> => {
    const { caller } = await admit(credentials, 'request')
    caller.checkAgain()
  }
  const round = () => Promise.all(Array.from({ length: inFlight }, one))
  const usEach = async (work: () => unknown, count: number): Promise<number> => {
    const before = process.cpuUsage()
    for (let i = 0; i < count; i++) await work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / count
  }
  await usEach(round, 2_000)
  const whole = (await usEach(round, 10_000)) / inFlight
  const hashes = () => {
    for (let i = 0; i < inFlight; i++) hash('sha256', key)
  }
  await usEach(hashes, 2_000)
  return { usEach: round3(whole), hash: round3((await usEach(hashes, 10_000)) / inFlight) }
}

/** Requests of several accounts in turn, `inFlight` at once, for `seconds`. */
async function saturate(
  accounts: number,
  charge: (account: string) => Promise<unknown>,
  clients = inFlight,
) {
  const until = performance.now() + seconds * 1_000
  const begin = performance.now()
  const before = process.cpuUsage()
  let done = 0
  const client = async (_: unknown, i: number): Promise<void> => {
    for (let n = i; performance.now() < until; n += clients) {
      await charge(`acc_${n % accounts}`)
      done++
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const { user, system } = process.cpuUsage(before)
  return {
    perSecond: Math.round((done * 1_000) / (performance.now() - begin)),
    cpuUsEach: round3((user + system) / done),
    done,
  }
}

async function rounds(nc: NatsConnection, accounts: number, clients = inFlight) {
  await using bucket = await openQuotaBucket(nc)
  let written = 0
  const counted: QuotaBucket = {
    ...bucket,
    swap: (...entry) => {
      written++
      return bucket.swap(...entry)
    },
  }
  await using quota = createQuota({ bucket: counted, limitsOf: () => limits, nowMs: Date.now })
  const charge = (account: string) => quota.charge(account, 'request')
  const result = await saturate(accounts, charge, clients)
  return { ...result, written }
}

async function naive(kv: KV, accounts: number, clients = inFlight) {
  let lost = 0
  const charge = async (account: string): Promise<void> => {
    const key = quotaKey(dayOf(Date.now()), `naive_${account}`)
    for (;;) {
      const entry = await kv.get(key)
      const rules = { limits, refunds: 0, nowMs: Date.now() }
      const { count } = chargeRound(decodeCount(entry?.string() ?? ''), ['request'], rules)
      try {
        await kv.put(key, encodeCount(count), { previousSeq: entry?.revision ?? 0 })
        return
      } catch (error) {
        if (!isWrongLastSequence(error)) throw error
        lost++
      }
    }
  }
  return { ...(await saturate(accounts, charge, clients)), lost }
}

const round3 = (value: number): number => Math.round(value * 1_000) / 1_000

await using nats = await testNats({ syncAlways: true })
const nc = await nats.connect('bench')
await ensureStreams(nc)
const kv = await new Kvm(nc).open(buckets.quota)
const result = {
  memory: await memory(),
  rounds: {
    oneAccount: await rounds(nc, 1),
    hundredAccounts: await rounds(nc, 100),
    hundredBusy: await rounds(nc, 100, manyInFlight),
  },
  naive: {
    oneAccount: await naive(kv, 1),
    hundredAccounts: await naive(kv, 100),
    hundredBusy: await naive(kv, 100, manyInFlight),
  },
}
await nc.close()
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
