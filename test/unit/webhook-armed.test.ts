import { array, assert, constantFrom, double, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { createSensorBoard } from '../../api/live/sensor-board.ts'
import { isArmed } from '../../api/webhooks/armed-now.ts'
import { partitionCount, type SensorId } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import { createWebhookIndex } from '../../core/delivery/webhook-match.ts'
import { applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import { createState, type PartitionState, slotOf } from '../../core/state/partition-state.ts'
import { minuteMs } from '../../core/time.ts'
import { newEntry } from '../../operate/sensor-registry.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import { registeredView } from '../support/registered-view.ts'

const sensor = 'NGR-LOS-IKJ-001' as SensorId

const webhookOf = (threshold: number, filters: Webhook['filters'] = {}): Webhook => ({
  id: 'wh_0000001',
  account: 'acc_1',
  url: 'https://example.org/',
  events: ['aqi.high'],
  filters: { aqi_threshold: threshold, ...filters },
  active: true,
  paused: false,
  secrets: { current: 'v1.x' },
  created_at: '2026-01-31T12:00:00Z',
  updated_at: '2026-01-31T12:00:00Z',
})

const sensors = registeredView()
sensors.put(
  sensor,
  newEntry({
    id: sensor,
    area: 'Ikeja',
    lat: 6.6,
    lon: 3.35,
    address: '',
    cadenceSeconds: 60,
    fromMs: 0,
    nowMs: 0,
  }),
)

/** A sensor whose readings both the pipeline and the API fold. */
function heardSensor() {
  const state: PartitionState = createState(0)
  const slot = slotOf(state, sensor)
  const outcome = createOutcome()
  let at = 0
  const states = Array.from({ length: partitionCount }, () => state)
  const board = createSensorBoard({
    sensors,
    states: () => states,
    nowMs: () => 0,
  })
  return {
    isArmed: (webhook: Webhook): boolean => isArmed(webhook, board),
    /** @returns whether the webhook gets an event for this index */
    delivers: (aqi: number, threshold: number): boolean => {
      const timeMs = ++at * minuteMs
      const reading = {
        sensor,
        area: 'Ikeja',
        timeMs,
        arrivedMs: timeMs,
        flags: 0,
        aqi,
        values: valuesOf({}),
      }
      applyNewer(state, slot, reading, at, outcome)
      const index = createWebhookIndex()
      const common = { events: ['aqi.high'], sensor: undefined, area: undefined } as const
      index.put({ number: 1, threshold, ...common })
      let isMatched = false
      if (outcome.rise) {
        index.rise({ sensor, area: 'Ikeja' }, outcome, () => (isMatched = true))
      }
      return isMatched
    },
  }
}

// few levels, so that crossings, falls and returns are frequent
const indices = constantFrom(0, 79, 80, 85, 90, 91, 97, 99, 100, 101, 105, 107, 110, 111, 120, 300)

test('a webhook that is armed receives the next rise, and one that is not does not', () => {
  const seen = { armed: 0, not: 0 }
  const thresholds = double({ min: 70, max: 130, noNaN: true })
  const below = array(integer({ min: 0, max: 1_000 }), { maxLength: 3 })
  assert(
    property(array(indices, { maxLength: 12 }), thresholds, below, (history, threshold, falls) => {
      const city = heardSensor()
      for (const aqi of history) city.delivers(aqi, threshold)
      const isArmedNow = city.isArmed(webhookOf(threshold))
      seen[isArmedNow ? 'armed' : 'not']++
      // an armed webhook stays so, whatever index below its threshold follows
      if (isArmedNow)
        for (const fall of falls) city.delivers(fall % Math.ceil(threshold), threshold)
      expect(city.delivers(Math.floor(threshold) + 1, threshold)).toBe(isArmedNow)
    }),
    { numRuns: 3_000 },
  )
  expect(seen.armed).toBeGreaterThan(300)
  expect(seen.not).toBeGreaterThan(300)
})

test('other sensors do not count, nor does a webhook without rises among its events', () => {
  const city = heardSensor()
  for (const aqi of [71, 105, 97]) city.delivers(aqi, 100)
  expect(city.isArmed(webhookOf(100))).toBe(false)
  expect(city.isArmed(webhookOf(100, { sensor_id: 'NGR-LOS-YAB-001' }))).toBe(true)
  expect(city.isArmed(webhookOf(100, { area: 'Yaba' }))).toBe(true)
  expect(city.isArmed({ ...webhookOf(100), events: ['reading.new'] })).toBe(true)
  expect(city.isArmed({ ...webhookOf(100), events: ['aqi.critical'] })).toBe(true)
})
