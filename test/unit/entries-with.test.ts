import { expect, test } from 'vitest'
import { entriesWith } from '../../runtime/nats/buckets/entries-with.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { registeredView } from '../support/registered-view.ts'

const entry = (id: string, more: Partial<SensorEntry> = {}): SensorEntry => ({
  id,
  cadence_seconds: 300,
  created_at: '2020-01-01T00:00:00Z',
  sites: [{ from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: 'GRA' }],
  ...more,
})

test('who has a field is known from the start on, and as entries change', () => {
  const view = registeredView()
  const [first, second] = ['NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002']
  view.put(first, entry(first, { receipts: true }))
  view.put(second, entry(second, { receipts: false }))
  const wanting = entriesWith(view, 'receipts', ({ receipts }) => receipts === true)
  expect([...wanting]).toEqual([first])
  view.put(second, entry(second, { receipts: true }))
  expect([...wanting]).toEqual([first, second])
  view.put(first, entry(first))
  view.put(second, undefined)
  expect(wanting.size).toBe(0)
})
