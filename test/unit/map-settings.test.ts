/** Tiles of another server: one host in the policy of the pages, and only with the source named. */
import { expect, test } from 'vitest'
import { readDashboardConfig } from '../../dashboard/config.ts'
import { securityHeaders } from '../../dashboard/server/security-headers.ts'

const configOf = (env: Readonly<Record<string, string>>) =>
  readDashboardConfig({ env, flags: {} }, '/data').map
const policyOf = (tiles?: string): string =>
  securityHeaders('https://air.example.org', tiles)['content-security-policy'] ?? ''
const directive = (policy: string, name: string): string | undefined =>
  policy.split('; ').find((part) => part.startsWith(`${name} `))

test('without tiles of others no other host is in the policy', () => {
  expect(configOf({})).toEqual({ tiles: undefined, file: undefined, attribution: undefined })
  expect(policyOf()).not.toMatch(/https?:/)
})

test('the host of the tiles is in the policy for pictures and requests, and nowhere else', () => {
  const tiles = 'https://tiles.example.org/v1/{z}/{x}/{y}.png?key=k'
  const env = { AIRPROOF_TILES_URL: tiles, AIRPROOF_MAP_ATTRIBUTION: '© somebody' }
  expect(configOf(env)).toMatchObject({ tiles, attribution: '© somebody' })
  const policy = policyOf(tiles)
  expect(directive(policy, 'img-src')).toBe(`img-src 'self' data: https://tiles.example.org`)
  expect(directive(policy, 'connect-src')).toBe(`connect-src 'self' https://tiles.example.org`)
  expect(policy.split('tiles.example.org')).toHaveLength(3)
})

test.each([
  'tiles.example.org/{z}/{x}/{y}.png',
  'http://tiles.example.org/{z}/{x}/{y}.png',
  'https://tiles.example.org/{z}/{x}.png',
  "https://tiles.example.org/{z}/{x}/{y}.png; script-src 'unsafe-inline'",
])('%s is refused, with an example', (tiles) => {
  const env = { AIRPROOF_TILES_URL: tiles, AIRPROOF_MAP_ATTRIBUTION: 'x' }
  expect(() => configOf(env)).toThrow(/AIRPROOF_TILES_URL must be like https:/)
})

test('the source of the tiles must be named', () => {
  const env = { AIRPROOF_TILES_URL: 'https://tiles.example.org/city.pmtiles' }
  expect(() => configOf(env)).toThrow(/AIRPROOF_MAP_ATTRIBUTION/)
})
