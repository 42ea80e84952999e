import { expect, test } from 'vitest'
import { failedAt, judgeHealth } from '../../core/delivery/attempt-verdict.ts'
import { healthy } from '../../core/delivery/delivery.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { disabledMail, failingMail, shownUrl } from '../../notifier/owners/mails.ts'
import { makeWebhook } from '../support/notifier.ts'

const webhook = { ...makeWebhook({ url: 'https://example.org/hook' }), description: 'pager' }

test('an endpoint that fails every hour for a week is warned of at 24 hours and at 4 days', () => {
  const ids = new Set<string>()
  let health = healthy
  for (let hour = 1_000; hour < 1_000 + 7 * 24; hour++) {
    const before = health
    health = failedAt(before, hour * hourMs)
    if (judgeHealth(before, health) === 'disable') break
    if (judgeHealth(before, health) === 'warn') {
      const { id, mail } = failingMail(webhook, health)
      ids.add(`${id} ${mail.data['hours']}`)
    }
  }
  const start = 1_000 * hourMs
  expect([...ids]).toEqual([
    `webhook_failing-${webhook.id}-${start}-24 24`,
    `webhook_failing-${webhook.id}-${start}-96 96`,
  ])
  expect(health.lastFailureMs - health.firstFailureMs).toBe(5 * dayMs)
})

test('the same disabling has one id; after a change of the webhook it is another one', () => {
  const why = { reason: 'gone', detail: 'the receiver answered 410', health: healthy } as const
  const first = disabledMail(webhook, { ...why, atMs: 0 })
  expect(disabledMail(webhook, { ...why, atMs: 5_000 }).id).toBe(first.id)
  const enabled = { ...webhook, updated_at: '2026-02-01T00:00:00Z' }
  expect(disabledMail(enabled, { ...why, atMs: 0 }).id).not.toBe(first.id)
  expect(first.mail).toEqual({
    kind: 'webhook_disabled',
    to: { account: webhook.account },
    data: {
      webhook: webhook.id,
      url: 'https://example.org/hook',
      description: 'pager',
      reason: 'gone',
      detail: 'the receiver answered 410',
      disabled_at: '1970-01-01T00:00:00Z',
    },
  })
})

test('a mail says of which webhook it is, how often it failed, and since when', () => {
  const health = { failures: 30, firstFailureMs: 0, lastFailureMs: 25 * hourMs }
  const names = { webhook: webhook.id, url: 'https://example.org/hook', description: 'pager' }
  const failed = { ...names, failures: 30, since: '1970-01-01T00:00:00Z' }
  expect(failingMail(webhook, health).mail).toEqual({
    kind: 'webhook_failing',
    to: { account: webhook.account },
    data: { ...failed, last_failure: '1970-01-02T01:00:00Z', hours: 25 },
  })
  const why = { reason: 'failing', detail: 'no success for 5 days', atMs: dayMs } as const
  const { reason, detail } = why
  expect(disabledMail(webhook, { ...why, health }).mail.data).toEqual({
    ...failed,
    reason,
    detail,
    disabled_at: '1970-01-02T00:00:00Z',
  })
})

test.each([
  ['https://example.org/', 'https://example.org/'],
  ['https://example.org:8443/hook', 'https://example.org:8443/hook'],
  ['https://example.org/services/T0/B0/c2VjcmV0', 'https://example.org/services…'],
  ['https://example.org/hook?token=c2VjcmV0', 'https://example.org/hook…'],
  ['https://example.org/c2VjcmV0LXRva2Vu', 'https://example.org/c2VjcmV0LXRv…'],
])('of the address %s a mail shows %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown)
})
