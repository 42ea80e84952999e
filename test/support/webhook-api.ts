/** The API with premium accounts that have webhooks; a second process of it; attempts in its log. */

import { jetstream } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import { run } from '../../api/main.ts'
import { shardOf, webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import type { Account } from '../../schemas/people/account.ts'
import { askSubject, attemptSubject, buckets } from '../../schemas/subjects.ts'
import type { Attempt } from '../../schemas/webhooks/attempt.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import type { WebhookReply, WebhookRequest } from '../../schemas/webhooks/webhook-requests.ts'
import { type TestApi, testApi } from './api.ts'
import { mustBeDocumented } from './documented-answers.ts'
import { eventually } from './eventually.ts'
import { loginAs } from './nats.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type Sent = {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- any response; the test says what it should be
  readonly body: any
}

export type Say = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Sent>

export type Customer = {
  readonly account: string
  readonly key: string
  readonly keyHash: string
  /** @param path after `/v1/webhooks` */
  readonly say: Say
  /** Of another process of the API. */
  readonly through: (url: string) => Say
  readonly create: (fields?: object) => Promise<any>
}

export type WebhookApi = TestApi & {
  readonly secretKey: string
  readonly customer: (tier?: Account['tier']) => Promise<Customer>
  readonly setTier: (account: string, tier: Account['tier']) => Promise<void>
  readonly accounts: KV
  readonly webhooks: KV
  readonly record: (id: string) => Promise<Webhook>
  readonly logAttempt: (webhook: string, fields?: Partial<Attempt>) => Promise<void>
}

export const hookUrl = 'http://127.0.0.1:9/hook'
export const wanted = { url: hookUrl, events: ['aqi.high'] }

const sayTo =
  (url: string, key: string): Say =>
  async (method, path, body, headers = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await fetch(`${url}/v1/webhooks${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: text }),
    })
    await mustBeDocumented(method, `/v1/webhooks${path}`, answer)
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }

export async function webhookApi(env: Readonly<Record<string, string>> = {}): Promise<WebhookApi> {
  const secretKey = env['AIRPROOF_SECRET'] ?? newSecretKey()
  const api = await testApi({
    env: { AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1', AIRPROOF_SECRET: secretKey, ...env },
  })
  const kvm = new Kvm(api.nc)
  const accounts = await kvm.open(buckets.accounts)
  const webhooks = await kvm.open(buckets.webhooks)
  let made = 0

  const setTier: WebhookApi['setTier'] = async (id, tier) => {
    const account: Account = {
      id,
      email: `${id}@example.org`,
      name: id,
      tier,
      role: 'user',
      created_at: formatIso(Date.now()),
    }
    await accounts.put(id, JSON.stringify(account))
  }
  return {
    ...api,
    secretKey,
    setTier,
    accounts,
    webhooks,
    customer: async (tier = 'premium') => {
      const account = `acc_${++made}`
      const { key, hash: keyHash } = await api.newKey({ account })
      await setTier(account, tier)
      const say = sayTo(api.url, key)
      const expected = tier === 'premium' ? 400 : 403
      await eventually('the API knows the account', async () => {
        return (await say('POST', '', {})).status === expected
      })
      return {
        account,
        key,
        keyHash,
        say,
        through: (url) => sayTo(url, key),
        create: async (fields = {}) => {
          const { status, body } = await say('POST', '', { ...wanted, ...fields })
          if (status !== 201) throw new Error(`not created: ${JSON.stringify(body)}`)
          return body.webhook
        },
      }
    },
    record: async (id) => {
      const entry = await webhooks.get(id)
      if (entry === null) throw new Error(`there is no ${id}`)
      return entry.json<Webhook>()
    },
    logAttempt: async (webhook, fields = {}) => {
      await jetstream(api.nc).publish(
        attemptSubject(webhook),
        JSON.stringify({ ...exampleAttempt, webhook, ...fields }),
      )
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}

export const exampleAttempt: Attempt = {
  delivery: 'msg_example',
  key: 'aqi.high-12-150',
  webhook: 'wh_0000000',
  event: 'aqi.high',
  trigger: 'event',
  attempt: 1,
  at: '2026-01-31T08:00:00Z',
  outcome: 'delivered',
  error: null,
  error_detail: null,
  next_attempt_at: null,
  request: {
    url: hookUrl,
    address: '127.0.0.1',
    headers: [['webhook-id', 'msg_example']],
    body_bytes: 2,
    body: '{}',
  },
  response: { status: 200, headers: [], body: 'ok', body_encoding: 'utf8', truncated: false },
  timings: { resolve: 0, connect: 1, first_byte: 2, total: 3 },
}

/** Another process of the API on the same NATS; it has no store, so it is alive but never ready. */
export async function secondApi(
  api: WebhookApi,
): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = temporaryFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const source = {
    env: {
      AIRPROOF_DATA: folder.path,
      AIRPROOF_API_PORT: String(port),
      AIRPROOF_LOG: 'silent',
      AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1',
      AIRPROOF_SECRET: api.secretKey,
      NATS_URL: api.nats.url,
    },
    flags: {},
  }
  const config = readSharedConfig(source)
  const stop = new AbortController()
  const log = openLog({ name: 'api', level: config.logLevel })
  const done = run({ config, ...source, log, stop: stop.signal })
  await Promise.race([
    done,
    eventually('the second API answers', async () => {
      const answer = await fetch(`${url}/v1/openapi.json`).catch(() => undefined)
      return answer?.status === 200
    }),
  ])
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      stop.abort('test')
      await done
      folder[Symbol.dispose]()
    },
  }
}

/**
 * A stand-in for the owner of a webhook's shard: replies as the test specifies, and records the requests.
 * @param webhook `*`: every one, of every shard
 */
export async function standInOwner(
  api: WebhookApi,
  webhook: string,
  answer: (request: WebhookRequest) => WebhookReply,
): Promise<Disposable & { readonly asked: readonly WebhookRequest[] }> {
  const asked: WebhookRequest[] = []
  const settings = { natsUrl: api.nats.url, natsLogin: loginAs('notifier') }
  const nc = await connectNats(settings, { name: 'a stand-in for the notifier' })
  const isAny = webhook === '*'
  nc.subscribe(askSubject(isAny ? '*' : shardOf(webhookNumberOf(webhook) ?? 0)), {
    callback: (error, message) => {
      if (error) return
      const request = message.json<WebhookRequest>()
      if (!isAny && request.webhook !== webhook) return
      asked.push(request)
      message.respond(JSON.stringify(answer(request)))
    },
  })
  await nc.flush()
  return { asked, [Symbol.dispose]: () => void nc.close() }
}
