import { assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { slugOf } from '../../core/air/area.ts'

test.each([
  ['Ikeja', 'ikeja'],
  ['Ìkẹjà', 'ikeja'],
  ['Victoria Island', 'victoria-island'],
  ['  Lekki -- Phase 1 ', 'lekki-phase-1'],
  ['Ajegunle/Apapa', 'ajegunle-apapa'],
  ['ISALE_EKO', 'isale-eko'],
  ['São Tomé', 'sao-tome'],
  ['Ｉｋｅｊａ', 'ikeja'],
  ['東京', '東京'],
  ['हिन्दी', 'हिन्दी'],
  ['—', ''],
  ['', ''],
])('the area %j is %j', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
})

test('the slug of a slug is itself, and it has no superfluous hyphens', () => {
  assert(
    property(string({ unit: 'grapheme' }), (name) => {
      const slug = slugOf(name)
      expect(slugOf(slug)).toBe(slug)
      expect(slug).not.toMatch(/^-|-$|--/)
    }),
    { numRuns: 2_000 },
  )
})

test('composed and decomposed spellings are one area', () => {
  assert(
    property(string({ unit: 'grapheme' }), (name) => {
      expect(slugOf(name.normalize('NFD'))).toBe(slugOf(name.normalize('NFC')))
    }),
  )
})
