/** Quotas as clients of /v1 experience them; `api-quota-rounds` has the details. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAdmit } from '../../api/admit.ts'
import { createApp } from '../../api/app.ts'
import { ApiError } from '../../api/http/api-error.ts'
import { openQuotaBucket } from '../../api/quota/bucket.ts'
import { createQuota } from '../../api/quota/quota.ts'
import { dayOf } from '../../core/access/quota.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { environment } from '../../runtime/process/config.ts'
import { decodeCount, encodeCount, quotaKey } from '../../schemas/people/quota.ts'
import { buckets, mailStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Customer, type WebhookApi, wanted, webhookApi } from '../support/webhook-api.ts'
import { withinOneDay } from '../support/within-one-day.ts'

let api: WebhookApi
beforeAll(async () => {
  api = await webhookApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const cheap = '/v1/aqi/scale'
const ask = ({ key }: { readonly key: string }, path = cheap, url = api.url): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })

const quotaKv = () => new Kvm(api.nc).open(buckets.quota)
const usedBy = async ({ account }: Pick<Customer, 'account'>): Promise<number> => {
  const entry = await (await quotaKv()).get(quotaKey(dayOf(Date.now()), account))
  return decodeCount(entry?.string() ?? '').used
}
/** Sets what the account has used today; the API may have charged it before. */
const setUsed = async ({ account }: Pick<Customer, 'account'>, used: number): Promise<void> => {
  const count = { used, minute: 0, inMinute: 0 }
  await (await quotaKv()).put(quotaKey(dayOf(Date.now()), account), encodeCount(count))
}
/** How much is charged for requests of a kind. */
async function chargedFor(customer: Customer, request: () => Promise<unknown>): Promise<number> {
  const before = await usedBy(customer)
  await request()
  return (await usedBy(customer)) - before
}

test('the 100th request of a free account succeeds, and the 101st waits for midnight UTC', () =>
  withinOneDay(async () => {
    const free = await api.customer('free')
    await setUsed(free, 98)
    const answers = [await ask(free), await ask(free)]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const quotaOf = (answer: Response | undefined) =>
      ['x-ratelimit-limit', 'x-ratelimit-remaining', 'ratelimit-policy'].map((name) =>
        answer?.headers.get(name),
      )
    const policy = '"day";q=100;w=86400, "minute";q=1000000;w=60'
    expect(answers.map(quotaOf)).toEqual([
      ['100', '1', policy],
      ['100', '0', policy],
    ])
    const refused = await ask(free)
    const nextDay = Math.floor(Date.now() / 86_400_000 + 1) * 86_400
    expect(refused.status).toBe(429)
    expect(quotaOf(refused)).toEqual(['100', '0', policy])
    expect(refused.headers.get('x-ratelimit-reset')).toBe(String(nextDay))
    expect(refused.headers.get('ratelimit')).toMatch(/^"day";r=0;t=\d+, "minute";r=\d+;t=\d+$/)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(Math.abs(nextDay - Date.now() / 1000 - seconds)).toBeLessThan(60)
    expect(await refused.json()).toMatchObject({
      error: { code: 'quota_exceeded', details: { limit: 100 } },
    })
    expect(await usedBy(free)).toBe(100)
    // another account is not affected, and this one is admitted again when its tier changes
    expect((await ask(await api.customer('free'))).status).toBe(200)
    await api.setTier(free.account, 'premium')
    await eventually('it is admitted', async () => (await ask(free)).status === 200)
  }))

test('at 99 of 100, exactly one of a hundred at once succeeds', () =>
  withinOneDay(async () => {
    const free = await api.customer('free')
    await setUsed(free, 99)
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(free)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 429)).toHaveLength(99)
  }))

test('a request counts if it was handled, successfully or not, and only then', () =>
  withinOneDay(async () => {
    const one = await api.customer()
    const { id } = await one.create()
    const charged = (path: string, status: number) =>
      chargedFor(one, async () => expect((await ask(one, path)).status).toBe(status))
    expect(await charged(cheap, 200)).toBe(1)
    expect(await charged('/v1/sensors?limit=0', 400)).toBe(1)
    expect(await charged('/v1/sensors/NGR-LOS-XXX-404/status', 404)).toBe(1)
    expect(await charged('/v1/nowhere', 404)).toBe(0)
    expect(await charged('/v1/openapi.json', 200)).toBe(0)
    expect(await charged('/v1/usage', 200)).toBe(0)
    const wrong = { key: `${one.key.slice(0, -1)}${one.key.endsWith('0') ? '1' : '0'}` }
    expect(await chargedFor(one, () => ask(wrong))).toBe(0)
    const options = { method: 'PUT', headers: { authorization: `Bearer ${one.key}` } }
    expect(await chargedFor(one, () => api.get(cheap, options))).toBe(0)

    // no notifier runs here, so this is our own failure: charged, and then refunded
    const before = await usedBy(one)
    const failed = await ask(one, `/v1/webhooks/${id}/deliveries?state=pending`)
    expect(failed.status).toBe(503)
    expect(failed.headers.get('x-ratelimit-limit')).not.toBeNull()
    await eventually('it is refunded', async () => (await usedBy(one)) === before)
  }))

test('a request that is "not modified", or refused after its charge, is refunded', () =>
  withinOneDay(async () => {
    const account = 'acc_given_back'
    await using bucket = await openQuotaBucket(api.nc)
    const limits = { perDay: 100, perMinute: 600 }
    await using quota = createQuota({ bucket, limitsOf: () => limits, nowMs: Date.now })
    let isRevoked = false
    const checkAgain = (): void => {
      if (isRevoked) throw new ApiError(401, 'revoked_key', 'no')
    }
    const caller = {
      key: 'k',
      keyHash: '',
      account,
      isInternal: false,
      isVisitor: false,
      checkAgain,
    }
    const statuses = [304, 200]
    const app = createApp({
      admit: createAdmit({
        freshen: async () => undefined,
        guard: () => caller,
        tokens: { open: async () => '' },
        quota,
        onUsed: () => undefined,
      }),
      digest: () => 'same',
      observe: () => undefined,
      routes: [
        {
          path: '/old',
          params: [],
          types: ['text/plain'],
          answer: () => ({ status: statuses.shift() ?? 500, type: 'text/plain', body: nothing }),
        },
      ],
    })
    const handle = app.callback()
    const server = createServer((request, response) => void handle(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/old`
    expect((await fetch(url)).status).toBe(304)
    await eventually('it is refunded', async () => (await usedBy({ account })) === 0)
    expect((await fetch(url)).status).toBe(200)
    expect(await usedBy({ account })).toBe(1)
    // revoked while it waited for its charge
    isRevoked = true
    const refused = await fetch(url)
    expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([401, '98'])
    await eventually('it is refunded', async () => (await usedBy({ account })) === 1)
    expect(statuses).toEqual([])
    server.close()
    server.closeAllConnections()
  }))
const nothing = Buffer.alloc(0)

test('a key that is revoked while its request is on the way is refused, and not charged', () =>
  withinOneDay(async () => {
    const mallory = await api.customer()
    const other = await api.newKey({ account: mallory.account })
    const body = JSON.stringify(wanted)
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString()
    })
    const before = await usedBy(mallory)
    socket.write(
      `POST /v1/webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${mallory.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    )
    await eventually('it is charged', async () => (await usedBy(mallory)) === before + 1)
    const entry = await api.keys.get(mallory.keyHash)
    const revoked = { ...entry?.json<object>(), revoked_at: '2026-01-31T08:00:00Z' }
    await api.keys.put(mallory.keyHash, JSON.stringify(revoked))
    await eventually('the key is refused', async () => (await ask(mallory)).status === 401)
    socket.write(body.slice(9))
    await eventually('the request is answered', () => received.includes('request_id'))
    socket.destroy()
    expect(received).toMatch(/^HTTP\/1\.1 401 .*"code":"revoked_key"/s)
    await eventually('it is refunded', async () => (await usedBy(mallory)) === before)
    expect((await ask(other)).status).toBe(200)
  }))

test('a key whose account does not exist, or is deleted, is refused', async () => {
  const gone = await api.customer()
  expect((await ask(gone)).status).toBe(200)
  await api.accounts.delete(gone.account)
  const refused = await eventually('the account is gone', async () => {
    const answer = await ask(gone)
    return answer.status === 401 && answer
  })
  expect(await refused.json()).toMatchObject({ error: { code: 'unknown_account' } })
})

test('mails at 80 and at 100 % are queued once per day, whatever is requested', () =>
  withinOneDay(async () => {
    const free = await api.customer('free')
    const day = dayOf(Date.now())
    await setUsed(free, 78)
    await ask(free)
    expect(await mailsTo(free)).toEqual([])
    const answered = await Promise.all(Array.from({ length: 5 }, () => ask(free)))
    expect(answered.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await eventually('the first is queued', async () => (await mailsTo(free)).length === 1)
    await Promise.all(Array.from({ length: 40 }, () => ask(free)))
    await eventually('the second is queued', async () => (await mailsTo(free)).length === 2)
    await ask(free)
    const second = await api.customer('free')
    await setUsed(second, 79)
    await ask(second)
    // queued in turn, so that another mail of the first account would have come before it
    await eventually('that of another account', async () => (await mailsTo(second)).length === 1)
    expect(await mailsTo(free)).toEqual([
      `quota_80.${day}.${free.account}`,
      `quota_100.${day}.${free.account}`,
    ])
  }))

/** Ids of the mails that wait for an account. */
async function mailsTo({ account }: Customer): Promise<readonly string[]> {
  const manager = await jetstreamManager(api.nc)
  const { first_seq, last_seq } = (await manager.streams.info(mailStream)).state
  const ids: string[] = []
  for (let seq = first_seq; seq <= last_seq; seq++) {
    const message = await manager.streams.getMessage(mailStream, { seq })
    ids.push(message?.header.get('Nats-Msg-Id') ?? '')
  }
  return ids.filter((id) => id.endsWith(`.${account}`))
}

test('with two processes, one of them killed in the burst, no more than 100 are handled', () =>
  withinOneDay(async () => {
    const free = await api.customer('free')
    await using other = await apiProcess()
    await eventually('it knows the key', async () => {
      const answer = await ask(free, '/v1/usage', other.url)
      return answer.status === 200
    })
    // the cost of making the customer known
    const before = await usedBy(free)
    let handled = 0
    // charged or not: there was no answer, or it states that the process could not know
    let unsure = 0
    const burst = Array.from({ length: 300 }, async (_, i) => {
      const url = i % 2 === 0 ? api.url : other.url
      const status = await ask(free, cheap, url).then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200) handled++
      else if (status !== 429) unsure++
      if (handled === 20) other.child.kill('SIGKILL')
    })
    await Promise.all(burst)
    await other.child.exited
    // requests charged by the dead process and never handled are lost
    while ((await ask(free)).status === 200) handled++
    expect(handled).toBeGreaterThanOrEqual(20)
    expect(before + handled).toBeLessThanOrEqual(100)
    expect(before + handled + unsure).toBeGreaterThanOrEqual(100)
    expect(await usedBy(free)).toBe(100)
  }))

/** A whole process of the API on the same NATS. */
async function apiProcess(): Promise<
  AsyncDisposable & { readonly url: string; readonly child: Child }
> {
  const folder = temporaryFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', 'api'],
    env: {
      ...environment(),
      NATS_URL: api.nats.url,
      AIRPROOF_DATA: folder.path,
      AIRPROOF_API_PORT: String(port),
      AIRPROOF_ADMIN_PORT: String(await freePort()),
      AIRPROOF_SECRET: api.secretKey,
      AIRPROOF_BURST_PREMIUM: '1000000',
      AIRPROOF_LOG: 'silent',
    },
    onLine: () => undefined,
  })
  await eventually('the process answers', async () => {
    const answer = await fetch(`${url}/v1/openapi.json`).catch(() => undefined)
    return answer?.status === 200
  })
  return {
    url,
    child,
    [Symbol.asyncDispose]: async () => {
      await child.stop()
      folder[Symbol.dispose]()
    },
  }
}
