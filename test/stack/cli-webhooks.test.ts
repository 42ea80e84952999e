import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../../cli/webhooks.ts'
import { MustAct, TryAgain, WrongUsage } from '../../runtime/exit.ts'
import type { Flags } from '../../runtime/settings.ts'
import type { WaitingDelivery } from '../../schemas/webhooks/webhook-requests.ts'
import { eventually } from '../support/eventually.ts'
import { startNotifier, testKey } from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  type Customer,
  exampleAttempt,
  standInOwner,
  type WebhookApi,
  webhookApi,
} from '../support/webhook-api.ts'

let api: WebhookApi
let ada: Customer
beforeAll(async () => {
  api = await webhookApi({ AIRPROOF_SECRET: testKey })
  ada = await api.customer()
})
afterAll(() => api[Symbol.asyncDispose]())

/** What the command prints. */
async function say(words: string, flags: Flags = {}): Promise<readonly string[]> {
  const printed: string[] = []
  const code = await command.run({
    env: { NATS_URL: api.nats.url },
    flags,
    words: words.split(' ').filter((word) => word !== ''),
    print: (line) => printed.push(line),
    note: () => undefined,
    isTerminal: false,
    stop: new AbortController().signal,
  })
  expect(code).toBe(0)
  return printed
}
const json = async (words: string, flags: Flags = {}): Promise<any> =>
  JSON.parse((await say(words, { ...flags, json: true })).join('\n'))

test('webhooks of all accounts are listed, or of one, and never a secret', async () => {
  const bob = await api.customer()
  const mine = await ada.create({ description: 'mine', filters: { aqi_threshold: 90 } })
  const his = await bob.create()
  const all: { id: string }[] = await json('list')
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([mine.id, his.id]))
  await api.setTier(bob.account, 'premium')
  expect(await json('list', { account: bob.account })).toEqual([
    expect.objectContaining({ id: his.id, account: bob.account, active: true }),
  ])
  const lines = await say('list')
  expect(lines[0]).toMatch(/^ID +ACCOUNT +STATE +EVENTS +URL$/)
  expect(lines.find((line) => line.startsWith(mine.id))).toMatch(/ active +aqi\.high +http:/)
  const output = JSON.stringify([
    all,
    lines,
    await say(`show ${mine.id}`),
    await json(`show ${mine.id}`),
  ])
  expect(output).not.toMatch(/secret"|whsec_|v1\./)
})

test('a webhook is shown with its waiting deliveries and its attempts, as far as they are known', async () => {
  const { id } = await ada.create({ description: 'pager' })
  expect(await say(`show ${id}`)).toEqual(
    expect.arrayContaining([
      'about     pager',
      'state     active',
      'waiting   unknown: no notifier owns its shard right now',
      'nothing was sent yet',
    ]),
  )
  expect(await json(`show ${id}`)).toMatchObject({ id, pending: null, dead: null, attempts: [] })
  for (let i = 1; i <= 12; i++) {
    await api.logAttempt(id, { attempt: i, delivery: `msg_${i}`, outcome: 'retry', error: 'tls' })
  }
  using _ = await standInOwner(api, id, (request) => ({
    ok: true,
    op: 'list',
    total: request.op === 'list' && request.state === 'dead' ? 3 : 41,
    deliveries: [waiting],
    is_behind: true,
  }))
  const lines = await say(`show ${id}`)
  expect(lines).toContain('waiting   41, the first due 2026-01-31T09:00:00Z, more in the streams')
  expect(lines).toContain('given up  3')
  expect(lines.filter((line) => line.includes('msg_')).map((line) => line.split(/ +/)[2])).toEqual(
    Array.from({ length: 10 }, (_, i) => String(12 - i)),
  )
  expect(await json(`show ${id}`)).toMatchObject({ pending: 41, dead: 3, is_behind: true })
})

test('what the operator disables its owner cannot resume until the operator enables it', async () => {
  const { id } = await ada.create()
  expect(await say(`disable ${id}`, { reason: 'answers with 10 GB' })).toEqual([`disabled ${id}`])
  await eventually('its owner sees it', async () => {
    const { webhook } = (await ada.say('GET', `/${id}`)).body
    return webhook.disabled?.detail === 'answers with 10 GB' && !webhook.active
  })
  const refused = await ada.say('POST', `/${id}/resume`)
  expect([refused.status, refused.body.error.details]).toEqual([
    409,
    { detail: 'answers with 10 GB' },
  ])
  expect(await say(`show ${id}`)).toContain('because   answers with 10 GB')
  expect(await json(`enable ${id}`)).toMatchObject({ active: true, disabled: null })
  expect((await ada.say('POST', `/${id}/pause`)).status).toBe(200)
  expect((await json(`show ${id}`)).paused).toBe(true)
})

const waiting: WaitingDelivery = {
  delivery: 'msg_w',
  key: 'aqi.high-77-150',
  event: 'aqi.high',
  trigger: 'event',
  state: 'pending',
  attempts: 2,
  due_at: '2026-01-31T09:00:00Z',
}

test('named deliveries, the dead ones, or all since a time are sent again by their owner', async () => {
  const { id } = await ada.create()
  await api.logAttempt(id, { delivery: 'msg_a', key: 'aqi.high-5-150' })
  await api.logAttempt(id, { delivery: 'msg_b', key: 'aqi.high-9-150' })
  using owner = await standInOwner(api, id, (request) => {
    switch (request.op) {
      case 'list': {
        const dead = ['aqi.high-1-150', 'aqi.high-2-150'].map((key) => ({ ...waiting, key }))
        const deliveries = request.state === 'dead' ? dead : []
        return { ok: true, op: 'list', total: 2, deliveries, is_behind: false }
      }
      case 'replay':
        return { ok: true, op: 'replay', delivery: `msg_of_${request.key}` }
      case 'recover':
        return { ok: true, op: 'recover' }
      case 'test':
        return { ok: true, op: 'test', attempt: exampleAttempt }
    }
  })
  const keys = () => owner.asked.flatMap((one) => (one.op === 'replay' ? [one.key] : []))
  expect(await say(`replay ${id} msg_a aqi.high-9-150`)).toEqual(['2 to be sent again'])
  expect(keys()).toEqual(['aqi.high-5-150', 'aqi.high-9-150'])
  expect(await json(`replay ${id}`, { dead: true })).toEqual({
    deliveries: ['msg_of_aqi.high-1-150', 'msg_of_aqi.high-2-150'],
  })
  expect(keys().slice(2)).toEqual(['aqi.high-1-150', 'aqi.high-2-150'])
  expect(await say(`replay ${id}`, { since: '2026-01-31T09:00:00+01:00' })).toEqual([
    'sending again since 2026-01-31T08:00:00Z',
  ])
  expect(owner.asked.at(-1)).toEqual({ op: 'recover', webhook: id, since: '2026-01-31T08:00:00Z' })
  await expect(say(`replay ${id} msg_none`)).rejects.toThrow(MustAct)
})

test('an error names what to do', async () => {
  const { id } = await ada.create()
  await expect(say('')).rejects.toThrow(/list, show, disable, enable, replay/)
  for (const words of ['show', `disable ${id} now`, `replay ${id}`, 'replay'])
    await expect(say(words)).rejects.toThrow(WrongUsage)
  await expect(say(`replay ${id} msg_a`, { dead: true })).rejects.toThrow(WrongUsage)
  await expect(say(`replay ${id}`, { since: 'noon' })).rejects.toThrow(WrongUsage)
  for (const words of ['show wh_0000000', 'show nothing', 'disable wh_0000000', 'replay x y'])
    await expect(say(words)).rejects.toThrow(/there is no webhook/)
  await expect(say(`replay ${id} aqi.high-9-150`)).rejects.toThrow(TryAgain)
})

test('with a notifier deliveries are shown, and sent again when they are replayed', async () => {
  await using opened = new AsyncDisposableStack()
  const folder = opened.adopt(temporaryFolder(), (one) => one[Symbol.dispose]())
  const receiver = opened.use(await startReceiver())
  opened.use(await startNotifier(api.nats.url, folder.path))
  await api.register({ id: 'NGR-LOS-YAB-001' })
  const { id } = await ada.create({ url: receiver.url, events: ['reading.new'] })
  await eventually('the notifier knows it', async () => {
    return (await ada.say('POST', `/${id}/test`)).status === 200
  })
  await api.commit([{ sensor: 'NGR-LOS-YAB-001', timeMs: Date.now() - 5_000, aqi: 60 }])
  const shown = await eventually('the delivery is on record, and waits no more', async () => {
    const one = await json(`show ${id}`)
    const isOnRecord = one.attempts.some((by: { trigger: string }) => by.trigger === 'event')
    return isOnRecord && one.pending === 0 && one
  })
  expect(shown).toMatchObject({ dead: 0, is_behind: false })
  const [{ delivery }] = shown.attempts
  const count = () => receiver.received.filter((one) => one.id === delivery).length
  expect(count()).toBe(1)
  expect(await json(`replay ${id} ${delivery}`)).toEqual({ deliveries: [delivery] })
  await eventually('it comes again', () => count() === 2)
})
