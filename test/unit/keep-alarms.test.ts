import { expect, test } from 'vitest'
import { createAlarmKeeper } from '../../anchor/keep-alarms.ts'
import type { AnchorAlarms } from '../../schemas/anchoring/batch-record.ts'

const away = { reason: 'CHAIN_AWAY', words: 'no node answers' } as const

test('alarms are written when they change, once at the start, and again where that failed', async () => {
  const written: AnchorAlarms[] = []
  let isAway = false
  let nowMs = 0
  const keep = createAlarmKeeper({
    batches: {
      putAlarms: async (alarms) => {
        if (isAway) throw new Error('NATS does not answer')
        written.push(alarms)
      },
    },
    nowMs: () => nowMs,
    log: { debug: () => undefined },
  })
  // those of a killed process end
  await keep([])
  await keep([])
  expect(written).toEqual([{ alarms: [], since: '1970-01-01T00:00:00Z' }])
  isAway = true
  await keep([away])
  isAway = false
  nowMs = 60_000
  await keep([away])
  await keep([{ ...away, words: 'in other words' }])
  expect(written.slice(1)).toEqual([{ alarms: [away], since: '1970-01-01T00:01:00Z' }])
  await keep([])
  expect(written.at(-1)?.alarms).toEqual([])
})
