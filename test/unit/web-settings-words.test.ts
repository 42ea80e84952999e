import { expect, test } from 'vitest'
import { refusalReasons } from '../../core/state/log-message.ts'
import { browserWords } from '../../dashboard/browser-words.ts'
import { common } from '../../dashboard/texts/en/common.ts'
import {
  againWords,
  reasons,
  reasonWords,
} from '../../dashboard/web/pages/operator/rejected-words.ts'
import { auditDetails, auditWords } from '../../dashboard/web/pages/settings/account/audit-words.ts'
import { daysLeft } from '../../dashboard/web/pages/settings/keys/days-left.ts'
import type { Outcome, Webhook } from '../../dashboard/web/pages/settings/webhooks/webhook-types.ts'
import {
  attemptWords,
  errorWords,
  isFailing,
  webhookState,
  whyNotSending,
} from '../../dashboard/web/pages/settings/webhooks/webhook-words.ts'
import { attemptErrors } from '../../schemas/webhooks/attempt.ts'

test.each([
  [90 * 24, '90\u00a0days left', false],
  [90 * 24 - 1, '90\u00a0days left', false],
  [89 * 24, '89\u00a0days left', false],
  [15 * 24, '15\u00a0days left', false],
  [14 * 24, '14\u00a0days left', true],
  [47, '2\u00a0days left', true],
  [24, '1\u00a0day left', true],
  [23, 'less than a day left', true],
  [0, 'expired', true],
  [-1, 'expired', true],
])('a key with %d hours to live has “%s”', (hours, words, isSoon) => {
  const nowMs = Date.parse('2026-03-01T00:00:00Z')
  const expiresAt = new Date(nowMs + hours * 3_600_000).toISOString()
  expect(daysLeft(expiresAt, nowMs)).toEqual({ words, isSoon })
})

const webhook: Webhook = {
  id: 'wh_0000000',
  url: 'https://example.org/',
  description: null,
  events: ['aqi.high'],
  filters: {},
  active: true,
  paused: false,
  disabled: null,
  previous_secret_until: null,
  created_at: '2026-03-01T00:00:00Z',
}

test.each<[Partial<Webhook>, string, RegExp]>([
  [{}, 'delivering', /^$/],
  [{ paused: true }, 'paused', /resume/],
  [{ paused: true, suspended: true }, 'suspended', /premium/],
  [{ active: false }, 'disabled', /switched off/],
  [{ active: false, disabled: { reason: 'gone', at: '' } }, 'disabled', /410/],
  [{ active: false, disabled: { reason: 'failing', at: '', detail: 'so' } }, 'disabled', /\(so\)/],
  [{ active: false, disabled: { reason: 'operator', at: '' } }, 'disabled', /Only they/],
])('of %o the strongest reason is shown', (fields, label, why) => {
  const one = { ...webhook, ...fields }
  expect(webhookState(one, 'ok').label).toBe(label)
  expect(whyNotSending(one) ?? '').toMatch(why)
})

test('an address fails after five attempts in a row, and not before', () => {
  const many = (count: number): Outcome[] => Array.from({ length: count }, () => 'retry')
  expect(isFailing(many(4))).toBe(false)
  expect(isFailing(many(5))).toBe(true)
  expect(isFailing([...many(4), 'dead'])).toBe(true)
  expect(isFailing(['delivered', ...many(9)])).toBe(false)
})

test('an example that failed is not shown as tried again', () => {
  expect(attemptWords({ outcome: 'retry', trigger: 'test' }).label).toBe('failed')
  expect(attemptWords({ outcome: 'retry', trigger: 'event' }).label).toMatch(/retry/)
})

test('every reason and every error that there is has words of its own', () => {
  expect(reasons.toSorted()).toEqual([...refusalReasons, 'partial'].toSorted())
  for (const reason of reasons) expect(reasonWords(reason)).not.toBe(reason)
  for (const error of attemptErrors) expect(errorWords(error)).not.toBe(error)
})

test('the outcome of a replay is shown in full', () => {
  expect(againWords({ replayed: 3, truncated: 0, unsendable: 0, gone: 0 })).toBe('3 sent again')
  expect(againWords({ replayed: 0, truncated: 1, unsendable: 2, gone: 3 })).toBe(
    '0 sent again; 1 not: only their beginning is kept; 2 not: their sensor has no valid name; 3 no longer kept',
  )
})

test('an audit event is words and details, also an unexpected one', () => {
  const event = { at: '', event: 'some_new_thing', details: { first_name: '<b>', count: 2 } }
  expect(auditWords(event)).toBe('Some new thing')
  expect(auditDetails(event)).toBe('first name: <b>, messages: 2')
  expect(auditDetails({ at: '', event: 'x' })).toBe('')
})

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    'Chrome on Linux',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge on Windows',
  ],
  ['Mozilla/5.0 (Android 15; Mobile; rv:141.0) Gecko/141.0 Firefox/141.0', 'Firefox on Android'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['<script>alert(1)</script>', '<script>alert(1)</script>'],
  ['', 'An unnamed browser'],
])('%s is called “%s”', (agent, words) => {
  expect(browserWords(agent, common)).toBe(words)
})
