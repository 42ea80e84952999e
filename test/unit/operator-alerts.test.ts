import { expect, test } from 'vitest'
import { alertsOf } from '../../dashboard/web/pages/operator/operator-alerts.ts'
import type { Status } from '../../dashboard/web/pages/operator/operator-data.ts'

const partition = { worker: 'pipeline-1', unjudged: 0, unstored: 0 }
const calm = {
  partitions: Array.from({ length: 16 }, () => partition),
  sensors: { registered: 100, online: 96, offline: 4, unheard: 0 },
  webhooks: { shards: 4, silent: 0, pending: 0, dead: 0, in_breaker: 0, oldest_due_seconds: 0 },
  lags: { statistics: 0, unmatched: 0, mails: 0 },
  anchor: { alarms: [] },
}
// only what alerts are made of
const status = (more: object): Status => ({ ...calm, ...more }) as unknown as Status

test('a calm network has no alert', () => {
  expect(alertsOf(status({}))).toEqual([])
})

test.each([
  [{ partitions: [{ ...partition, worker: null }, partition] }, 'idle', 1, true],
  [{ sensors: { ...calm.sensors, online: 60, offline: 40 } }, 'outage', 40, true],
  [{ partitions: [{ ...partition, unjudged: 10_001 }] }, 'unjudged', 10_001, false],
  [{ partitions: [{ ...partition, unstored: 50_001 }] }, 'unstored', 50_001, false],
  [{ webhooks: { ...calm.webhooks, silent: 2 } }, 'notifier', 2, false],
  [{ webhooks: { ...calm.webhooks, oldest_due_seconds: 301 } }, 'deliveries', 301, false],
  [{ lags: { ...calm.lags, mails: 101 } }, 'mails', 101, false],
  [{ anchor: { alarms: [{ reason: 'x', words: 'out of gas' }] } }, 'anchor', 0, true],
] as const)('%j is the alert %s', (more, kind, count, isBad) => {
  expect(alertsOf(status(more))).toMatchObject([{ kind, count, isBad }])
})

test('some broken devices of a small network are not an outage, and what is bad comes first', () => {
  const sensors = { registered: 4, online: 1, offline: 3, unheard: 0 }
  expect(alertsOf(status({ sensors }))).toEqual([])
  const both = status({
    partitions: [
      { ...partition, unjudged: 20_000 },
      { ...partition, worker: null },
    ],
  })
  expect(alertsOf(both).map(({ kind }) => kind)).toEqual(['idle', 'unjudged'])
})
