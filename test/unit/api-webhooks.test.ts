import { afterEach, describe, expect, test, vi } from 'vitest'
import { ApiError } from '../../api/http/api-error.ts'
import { areaDirectory } from '../../api/live/area-directory.ts'
import { candidateIds } from '../../api/webhooks/candidate-ids.ts'
import { atCursor, readAtCursor } from '../../api/webhooks/deliveries.ts'
import { creationOf, isRepeat } from '../../api/webhooks/idempotency.ts'
import { createJudgeWanted, type JudgeWanted } from '../../api/webhooks/judge-wanted.ts'
import { patched, resumed } from '../../api/webhooks/patch.ts'
import { newSecret, openWhenNeeded, rotated } from '../../api/webhooks/secrets.ts'
import { webhookRoutes } from '../../api/webhooks/webhooks.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import type { PublicResolver, Resolution } from '../../runtime/http/public-resolver.ts'
import { indexByAccount } from '../../runtime/nats/buckets/index-by-account.ts'
import type { Change } from '../../runtime/nats/buckets/watched-bucket.ts'
import { newSecretKey, secretBox } from '../../runtime/secrets/seal-secret.ts'
import { type FormatLevel, newestLevel } from '../../schemas/format-level.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import { outlineOf } from '../support/registered-view.ts'

const nowMs = Date.UTC(2026, 0, 31, 12)
const webhook: Webhook = {
  id: 'wh_0000001',
  account: 'acc_1',
  url: 'https://example.org/',
  description: 'pager',
  events: ['aqi.high'],
  filters: { sensor_id: 'NGR-LOS-IKJ-001', area: 'Ikeja', aqi_threshold: 90 },
  active: true,
  paused: false,
  secrets: { current: 'v1.x' },
  created_at: '2026-01-31T12:00:00Z',
  updated_at: '2026-01-31T12:00:00Z',
}

const judgeWith = (
  resolution: Promise<Resolution>,
  allowInsecure = false,
  level: FormatLevel = newestLevel,
): JudgeWanted => {
  const resolver: PublicResolver = { resolve: () => resolution, mayDial: () => true }
  const sensors = [
    {
      id: sensorIdRules().parse('NGR-LOS-IKJ-001') ?? expect.unreachable(),
      cadenceMs: 1,
      sites: [{ fromMs: 0, area: 'Ikeja', lat: 0, lon: 0, address: '' }],
    },
  ] as const
  const directory = areaDirectory(outlineOf(sensors), { networkName: 'Lagos', idPrefix: 'NGR-LOS' })
  return createJudgeWanted({
    level: { current: () => level },
    resolver,
    allowInsecure,
    rules: sensorIdRules(),
    directory: () => directory,
    board: { withNumber: () => [], get: () => undefined },
  })
}
const anywhere: Resolution = { addresses: ['93.184.216.34'] }
const judge = judgeWith(Promise.resolve(anywhere))

test('a kind that some process does not know yet is refused, and the others are named', async () => {
  const url = 'https://example.org/'
  const former = judgeWith(Promise.resolve(anywhere), false, 1)
  await expect(former({ url, events: ['aqi.high', 'reading.anchored'] })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_body',
  })
  expect(await former({ url, events: ['aqi.high', 'reading.new'] })).toEqual({ url })
  expect(await judge({ url, events: ['reading.anchored'] })).toEqual({ url })
  await expect(patched({ events: ['reading.anchored'] }, webhook, former)).rejects.toMatchObject({
    code: 'invalid_body',
  })
})

test('a filter of quality is kept, removed by null, and refused while a process does not know it', async () => {
  const filters = { min_quality: 'suspect' } as const
  expect(await judge({ filters })).toEqual({ filters })
  const with_ = (await patched({ filters }, webhook, judge))(webhook)
  expect(with_.filters).toEqual({ ...webhook.filters, ...filters })
  const without = (await patched({ filters: { min_quality: null } }, with_, judge))(with_)
  expect(without.filters).toEqual(webhook.filters)
  const former = judgeWith(Promise.resolve(anywhere), false, 2)
  await expect(former({ filters })).rejects.toMatchObject({
    code: 'invalid_body',
    details: { fields: [{ field: 'filters.min_quality' }] },
  })
})

describe('the address of a webhook', () => {
  const wrong: readonly string[] = [
    'http://example.org/',
    'https://example.org:8080/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://localhost/',
    'https://metadata.google.internal/',
    'https://me:pass@example.org/',
    'javascript:alert(1)',
  ]
  test.each(wrong)('%s is refused before it is resolved', async (url) => {
    await expect(judge({ url })).rejects.toMatchObject({ status: 400, code: 'invalid_body' })
  })

  test('a wrong port is refused with the ports that are allowed, and whom to ask', async () => {
    await expect(judge({ url: 'https://example.org:9999/' })).rejects.toMatchObject({
      details: {
        fields: [
          {
            field: 'url',
            expected:
              'on port 443 or 8443 (for development the operator may allow others: AIRPROOF_ALLOW_INSECURE_WEBHOOKS=1 and a restart)',
          },
        ],
      },
    })
  })

  test('is stored as browsers write it, without its fragment', async () => {
    expect(await judge({ url: 'HTTPS://Example.ORG:443/a/../b#c' })).toEqual({
      url: 'https://example.org/b',
    })
  })

  test('is refused if one of its addresses is not public', async () => {
    const blocked: Resolution = { fault: 'blocked_address', detail: 'x has the address 10.0.0.1' }
    const refused = judgeWith(Promise.resolve(blocked))({ url: 'https://example.org/' })
    await expect(refused).rejects.toMatchObject({
      details: { fields: [{ field: 'url', expected: expect.stringContaining('public') }] },
    })
  })

  test('is accepted if its name is not known yet', async () => {
    const unknown: Resolution = { fault: 'dns', detail: 'x: ENOTFOUND' }
    expect(await judgeWith(Promise.resolve(unknown))({ url: 'https://example.org/' })).toEqual({
      url: 'https://example.org/',
    })
  })

  afterEach(() => void vi.useRealTimers())
  test('is accepted if its name is not resolved within two seconds', async () => {
    vi.useFakeTimers()
    const never = judgeWith(new Promise(() => undefined))({ url: 'https://example.org/' })
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await never).toEqual({ url: 'https://example.org/' })
  })
})

describe('a patch', () => {
  test.each([
    [{}, webhook.filters],
    [{ filters: {} }, webhook.filters],
    [{ filters: null }, {}],
    [{ filters: { area: null } }, { sensor_id: 'NGR-LOS-IKJ-001', aqi_threshold: 90 }],
    [{ filters: { area: 'lagos' } }, { sensor_id: 'NGR-LOS-IKJ-001', aqi_threshold: 90 }],
    [{ filters: { aqi_threshold: 0 } }, { ...webhook.filters, aqi_threshold: 0 }],
    [{ filters: { sensor_id: null, area: 'IKJ', aqi_threshold: null } }, { area: 'Ikeja' }],
  ])('of %j leaves the filters %j', async (patch, filters) => {
    expect((await patched(patch, webhook, judge))(webhook).filters).toEqual(filters)
  })

  test('changes only the fields it names of what others have written meanwhile', async () => {
    const change = await patched({ events: ['reading.new'] }, webhook, judge)
    const meanwhile: Webhook = { ...webhook, url: 'https://other.org/', paused: true, filters: {} }
    expect(change(meanwhile)).toEqual({ ...meanwhile, events: ['reading.new'] })
  })

  test('to null removes the description', async () => {
    const changed = (await patched({ description: null }, webhook, judge))(webhook)
    expect(changed).not.toHaveProperty('description')
  })

  test('cannot undo what the operator did meanwhile', async () => {
    const change = await patched({ active: true }, webhook, judge)
    const disabled = { reason: 'operator', at: webhook.created_at } as const
    expect(() => change({ ...webhook, active: false, disabled })).toThrow(/operator/)
    expect(() => resumed({ ...webhook, active: false, disabled })).toThrow(/operator/)
  })
})

describe('a repeat', () => {
  const creation = creationOf('key', { url: 'x', filters: { area: 'a', sensor_id: 's' } })
  const created = { ...webhook, idempotency: creation }
  test('is the same key and request within a day', () => {
    const again = creationOf('key', { filters: { sensor_id: 's', area: 'a' }, url: 'x' })
    expect(isRepeat(created, again, nowMs + dayMs - 1)).toBe(true)
    expect(isRepeat(created, again, nowMs + dayMs)).toBe(false)
    expect(isRepeat(webhook, again, nowMs)).toBe(false)
    expect(isRepeat(created, creationOf('other', {}), nowMs)).toBe(false)
  })
  test('with another request is refused', () => {
    expect(() => isRepeat(created, creationOf('key', { url: 'y' }), nowMs)).toThrow(
      /another request/,
    )
  })
  test('of a list in another order is another request', () => {
    expect(creationOf('key', { events: ['a', 'b'] })).not.toEqual(
      creationOf('key', { events: ['b', 'a'] }),
    )
  })
})

test('ids follow from account and key, and are random without a key', () => {
  const first = (account: string, key?: string) => [...candidateIds(account, key)].slice(0, 3)
  expect(first('acc_1', 'k')).toEqual(first('acc_1', 'k'))
  expect(
    new Set([...first('acc_1', 'k'), ...first('acc_2', 'k'), ...first('acc_1', 'l')]).size,
  ).toBe(9)
  expect(first('acc_1')).not.toEqual(first('acc_1'))
})

test('a rotation seals the new secret and keeps the sealed old one until the overlap ends', () => {
  const box = secretBox(newSecretKey())
  const secret = newSecret()
  const { secrets } = rotated(webhook, box, { secret, overlapMs: hourMs, nowMs })
  expect(box.open(secrets.current, webhook.id)).toBe(secret)
  expect(secrets.previous).toEqual({ sealed: 'v1.x', until: '2026-01-31T13:00:00Z' })
  expect(rotated(webhook, box, { secret, overlapMs: 0, nowMs }).secrets).not.toHaveProperty(
    'previous',
  )
})

test('a box that does not open is tried again with the next request', async () => {
  let tries = 0
  const box = secretBox(newSecretKey())
  const open = openWhenNeeded(async () => {
    if (++tries === 1) throw new Error('another key')
    return box
  })
  await expect(open()).rejects.toMatchObject({ status: 503 })
  expect(await open()).toBe(box)
  expect(await open()).toBe(box)
  expect(tries).toBe(2)
})

test('a cursor of attempts decodes to its sequence, and no other text does', () => {
  expect(readAtCursor(new Map([['cursor', atCursor(4_711)]]))).toBe(4_711)
  expect(readAtCursor(new Map())).toBeUndefined()
  for (const word of ['', 'x', 'a:5', Buffer.from('a:0').toString('base64url')])
    expect(() => readAtCursor(new Map([['cursor', word]]))).toThrow(/next_cursor/)
})

test('the webhooks of an account are known through every change', () => {
  let report: (change: Change<Webhook>) => void = () => undefined
  const idsOf = indexByAccount({
    entries: () => new Map([[webhook.id, webhook]]).entries(),
    onChange: (listener) => {
      report = listener
      return () => undefined
    },
  })
  expect([...idsOf('acc_1')]).toEqual([webhook.id])
  report({ key: 'wh_0000002', value: { ...webhook, id: 'wh_0000002', account: 'acc_2' } })
  report({ key: webhook.id, value: { ...webhook, account: 'acc_2' } })
  expect([[...idsOf('acc_1')], [...idsOf('acc_2')]]).toEqual([[], ['wh_0000002', webhook.id]])
  report({ key: 'wh_0000002', value: undefined })
  report({ key: 'wh_0000003', value: undefined })
  expect([...idsOf('acc_2')]).toEqual([webhook.id])
})

test.each([
  ['made', 'POST', '/v1/webhooks', { url: webhook.url, events: webhook.events }],
  ['changed', 'PATCH', '/v1/webhooks/:webhook_id', { url: 'https://example.org/other' }],
] as const)(
  'none is %s for an account deleted during the DNS query',
  async (_, method, path, sent) => {
    let isDeleted = false
    let written = 0
    const resolution = async (): Promise<Resolution> => {
      await Promise.resolve()
      isDeleted = true
      return anywhere
    }
    const unused = (): never => expect.unreachable()
    const routes = webhookRoutes({
      backTest: unused,
      book: {
        list: () => [],
        need: () => Promise.resolve(webhook),
        findRepeat: () => Promise.resolve(undefined),
        create: async (_account, make) => {
          await Promise.resolve()
          make(webhook.id)
          written++
          return { webhook, isRepeat: false }
        },
        change: async (_account, _id, change) => {
          await Promise.resolve()
          change(webhook)
          written++
          return webhook
        },
        remove: unused,
      },
      judge: (requested, wrong) => judgeWith(resolution())(requested, wrong),
      tierOf: () => 'premium',
      box: () => Promise.resolve(secretBox(newSecretKey())),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the response is never used
      ...({ board: { inUse: () => [] }, log: {}, owner: {} } as unknown as Pick<
        Parameters<typeof webhookRoutes>[0],
        'board' | 'log' | 'owner'
      >),
      nowMs: () => nowMs,
    })
    const route = routes.find((one) => one.path === path && one.method === method)
    const answered = route?.answer({
      names: { webhook_id: webhook.id },
      params: new Map(),
      type: 'application/json',
      caller: {
        key: 'key_1',
        keyHash: '',
        account: webhook.account,
        isInternal: false,
        isVisitor: false,
        checkAgain: () => {
          if (isDeleted) throw new ApiError(401, 'revoked_key', 'this API key was revoked')
        },
      },
      asker: { isVisitor: false, share: () => webhook.account, gone: () => AbortSignal.any([]) },
      network: () => '127.0.0.1',
      header: () => undefined,
      readBody: () => Promise.resolve(sent),
    })
    await expect(answered).rejects.toMatchObject({ status: 401 })
    expect([isDeleted, written]).toEqual([true, 0])
  },
)
