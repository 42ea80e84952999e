import { expect, test } from 'vitest'
import { readDashboardConfig } from '../../dashboard/config.ts'

const zoneOf = (env: Readonly<Record<string, string>>): string =>
  readDashboardConfig({ env, flags: {} }, '/nowhere').network.timezone

test.each([
  [{}, 'Africa/Lagos'],
  [{ AIRPROOF_NETWORK_NAME: 'Nairobi' }, 'Africa/Nairobi'],
  [{ AIRPROOF_NETWORK_NAME: 'new york' }, 'America/New_York'],
  [{ AIRPROOF_NETWORK_NAME: 'Abuja' }, 'UTC'],
  [{ AIRPROOF_NETWORK_NAME: 'Abuja', AIRPROOF_TIMEZONE: 'Africa/Lagos' }, 'Africa/Lagos'],
  [{ AIRPROOF_TIMEZONE: 'Asia/Kathmandu' }, 'Asia/Kathmandu'],
])('the zone of a network: %o → %s', (env, zone) => {
  expect(zoneOf(env)).toBe(zone)
})

test('a zone that does not exist is an error that names the setting', () => {
  for (const text of ['Lagos', '+01:00', 'WAT+1'])
    expect(() => zoneOf({ AIRPROOF_TIMEZONE: text })).toThrow(/AIRPROOF_TIMEZONE .*must be/)
})
