import { array, assert, constantFrom, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { longestTarget, splitTarget, targetFault } from '../../core/access/request-target.ts'

const apiUrl = 'http://127.0.0.1:8080'

test.each([
  '/',
  '/v1/sensors?bbox=3.1,6.2,3.9,7',
  '/v1/areas/Victoria%20Island?interval=hour',
  '/v1/areas/%C3%8Ck%C3%B2y%C3%AD',
  '/v1/areas/a%2Fb',
  '/v1/readings/NGR-LOS-IKJ-001/proof?timestamp=2026-03-01T12:00:00%2B01:00',
  '/v1/areas/...',
  '/assets/',
])('%s is a target', (target) => {
  expect(targetFault(target)).toBeUndefined()
})

test.each([
  ['a fragment', '/v1/areas/..#x'],
  ['a fragment in the query', '/v1/areas?a#b'],
  ['dots', '/v1/areas/../sensors'],
  ['a dot', '/v1/./areas'],
  ['encoded dots', '/v1/areas/%2e%2E/sensors'],
  ['half-encoded dots at the end', '/v1/areas/.%2e'],
  ['a backslash', '/v1\\..\\areas'],
  ['an empty segment', '/v1//areas'],
  ['another host', '//example.org/v1/areas'],
  ['absolute form', 'http://example.org/v1/areas'],
  ['authority form', 'example.org:443'],
  ['asterisk form', '*'],
  ['nothing', ''],
  ['a control character', '/v1/areas/\u0000'],
  ['an encoded control character', '/v1/areas/a%0d%0ab'],
  ['a space', '/v1/areas/a b'],
  ['letters beyond ASCII', '/v1/areas/Ìkòyí'],
  ['half of an escape', '/v1/areas/%4'],
  ['an escape that is no UTF-8', '/v1/areas/%ff'],
])('%s is refused', (_what, target) => {
  expect(targetFault(target)).toBe('bad_characters')
})

test('a target that is too long is refused as such', () => {
  expect(targetFault(`/${'a'.repeat(longestTarget)}`)).toBe('too_long')
})

test('a URL parser reads from a valid target the path and the query that were routed, whatever they hold', () => {
  const part = oneof(
    constantFrom('/', '//', '.', '..', '%2e', '%2E', '#', '\\', '%5c', '%2f', '?', '@', ':', ';'),
    constantFrom('v1', 'areas', 'http:', '%00', '\t', '\n', '\r', ' ', '%', '"', '<', "'", '|'),
    string({ maxLength: 4 }),
    string({ unit: 'binary', maxLength: 3 }),
  )
  let good = 0
  assert(
    property(array(part, { maxLength: 10 }), (parts) => {
      const target = `/v1/${parts.join('')}`
      if (targetFault(target) !== undefined) return
      good++
      const { path, query } = splitTarget(target)
      const url = new URL(apiUrl + target)
      expect([url.origin, url.pathname, url.hash]).toEqual([apiUrl, path, ''])
      expect(url.pathname.startsWith('/v1/')).toBe(true)
      // the query is in the same place; what a parser escapes in it is not a separator
      expect(decodeURIComponent(url.search.slice(1).replaceAll('%', '%25'))).toBeDefined()
      expect(url.search.length).toBeGreaterThanOrEqual(query === '' ? 0 : query.length + 1)
    }),
    { numRuns: 3_000 },
  )
  // the property is about something
  expect(good).toBeGreaterThan(100)
})
