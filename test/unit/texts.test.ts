import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { quantityNames } from '../../core/air/quantities.ts'
import { fill } from '../../dashboard/texts/fill.ts'
import { formatsOf } from '../../dashboard/texts/format.ts'
import { languages } from '../../dashboard/texts/languages.ts'

type Tree = { readonly [name: string]: Tree | string | ((...values: never[]) => string) }

const catalogues = ['public', 'account', 'server']

async function catalogueOf(language: string, name: string): Promise<Tree> {
  const file: { catalogue: Tree } = await import(`../../dashboard/texts/${language}/${name}.ts`)
  return file.catalogue
}

/** A value that is a number, a text and a list of one letter, whatever a text makes of it. */
const two: unknown = Object('2')
const fourTwos = [two, two, two, two] as never[]

/** `city.title` → its text; a function is called with 2 for each value. */
function textsOf(tree: Tree, under = ''): Map<string, string> {
  return new Map(
    Object.entries(tree).flatMap(([name, value]) => {
      const path = under === '' ? name : `${under}.${name}`
      if (typeof value === 'object') return [...textsOf(value, path)]
      if (typeof value === 'string') return [[path, value] as const]
      return [[path, String(value(...fourTwos))] as const]
    }),
  )
}

const namesIn = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name ?? '').toSorted()

describe.each(catalogues)('catalogue %s', (name) => {
  test('each text of English is in every other language, with the same parts', async () => {
    const english = textsOf(await catalogueOf('en', name))
    for (const language of languages) {
      const others = textsOf(await catalogueOf(language, name))
      expect([...others.keys()].toSorted()).toEqual([...english.keys()].toSorted())
      for (const [path, text] of others) {
        expect([path, text.trim()]).not.toEqual([path, ''])
        expect([path, namesIn(text)]).toEqual([path, namesIn(english.get(path) ?? '')])
      }
    }
  })

  test('French has its narrow spaces, and the names of quantities as they are', async () => {
    const french = [...textsOf(await catalogueOf('fr', name))]
    const wrong = (rule: RegExp) => french.filter(([, text]) => rule.test(text))
    // a space that ends no line before these signs; not in times, addresses, code and parts
    expect(wrong(/[ \u00a0][?!:;»]|«[^\u202f]/)).toEqual([])
    expect(wrong(/\p{L}[?!;»](?:\s|$)|\p{L}:\s/u)).toEqual([])
    expect(wrong(/PM\s?2,5|%\s?RH|\bDemonstration\b/)).toEqual([])
  })

  test('no text of it is unused', async () => {
    const sources = globSync('dashboard/**/*.{ts,tsx}', {
      exclude: ['dashboard/texts/**', 'dashboard/web/dist/**'],
    })
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n')
    const isUsed = (word: string): boolean =>
      new RegExp(`[.'"{,\\s]${word}\\b(?!:\\s*')`).test(sources)
    const unused = [...textsOf(await catalogueOf('en', name)).keys()].filter((path) => {
      const names = path.split('.')
      // a table is looked up by a value, so its name counts for what is in it
      return !isUsed(names.at(-1) ?? '') && !(names.length > 2 && isUsed(names.at(-2) ?? ''))
    })
    expect(unused).toEqual([])
  })
})

test('each room is in a catalogue, and each language has the same rooms', async () => {
  const roomsOf = (language: string): string[] =>
    globSync(`dashboard/texts/${language}/*.ts`)
      .map((file) => basename(file, '.ts'))
      .filter((room) => !['write', 'spaced'].includes(room) && !catalogues.includes(room))
      .toSorted()
  const inCatalogues = await Promise.all(catalogues.map((name) => catalogueOf('en', name)))
  const known = new Set(inCatalogues.flatMap((catalogue) => Object.keys(catalogue)))
  expect(roomsOf('en')).toEqual([...known].toSorted())
  expect(roomsOf('fr')).toEqual(roomsOf('en'))
})

test('no French text was left in English', async () => {
  for (const name of catalogues) {
    const english = textsOf(await catalogueOf('en', name))
    const french = textsOf(await catalogueOf('fr', name))
    // more than one word, and the same in both
    const same = [...french].filter(
      ([path, text]) => text === english.get(path) && /\p{L}{2,}\s+\p{L}{2,}/u.test(text),
    )
    expect(same).toEqual([])
  }
})

test('every quantity has a French name of its own', async () => {
  const { names: english } = (await import('../../dashboard/texts/en/quantities.ts')).quantities
  const { names: french } = (await import('../../dashboard/texts/fr/quantities.ts')).quantities
  // symbols are the same in every language
  const same = quantityNames.filter((name) => english[name].long === french[name].long)
  expect(same).toEqual(['co2', 'o3'])
})

describe('a text with parts', () => {
  test('is cut at its parts, each made from its label', () => {
    expect(
      fill('Go {home:to the start} or {help}.', {
        home: (label) => ({ label }),
        help: () => ({ label: '?' }),
      }),
    ).toEqual(['Go ', { label: 'to the start' }, ' or ', { label: '?' }, '.'])
  })

  test('is refused where a part is not given', () => {
    expect(() => fill('{home:x}', {})).toThrow('home')
  })
})

describe('numbers, dates and plurals', () => {
  const [en, fr] = [formatsOf('en'), formatsOf('fr')]

  test('are written by the language of the page', () => {
    expect(en.number(1010.25, 1)).toBe('1,010.3')
    expect(fr.number(1010.25, 1)).toBe('1\u202f010,3')
    expect(en.number(63, 1, { fixed: true })).toBe('63.0')
    expect(en.number(-3)).toBe('−3')
    expect(en.percent(0.625)).toBe('63%')
    expect(fr.percent(0.625)).toBe('63\u00a0%')
    expect(en.list(['A', 'B', 'C'])).toBe('A, B and C')
    expect(fr.list(['A', 'B', 'C'])).toBe('A, B et C')
  })

  test('have the zone that is asked for', () => {
    const ms = Date.UTC(2026, 0, 31, 23, 30)
    const options = { weekday: 'short', hour: '2-digit', minute: '2-digit' } as const
    expect(en.date(ms, options, 'Africa/Lagos')).toBe('Sun 00:30')
    expect(fr.date(ms, options, 'Africa/Lagos')).toBe('dim. 00:30')
    expect(en.date(ms, options, 'UTC')).toBe('Sat 23:30')
  })

  test('one is one, and in French none is one too', () => {
    const [readings, mesures] = [
      { one: 'reading', other: 'readings' },
      { one: 'mesure', other: 'mesures' },
    ]
    expect([0, 1, 2, 1010].map((n) => en.count(n, readings))).toEqual([
      '0\u00a0readings',
      '1\u00a0reading',
      '2\u00a0readings',
      '1,010\u00a0readings',
    ])
    expect([0, 1, 2].map((n) => fr.count(n, mesures))).toEqual([
      '0\u00a0mesure',
      '1\u00a0mesure',
      '2\u00a0mesures',
    ])
  })

  test('how long ago, in the largest unit', () => {
    const now = Date.UTC(2026, 0, 1)
    expect([3, 42, 240, 7_500, 200_000].map((s) => en.ago(now - s * 1000, now))).toEqual([
      'now',
      '42 sec ago',
      '4 min ago',
      '2 hr ago',
      '2 days ago',
    ])
    expect(en.ago(now + 7_500_000, now)).toBe('in 2 hr')
    expect(fr.ago(now - 240_000, now)).toBe('il y a 4\u00a0min')
    expect(fr.ago(now, now)).toBe('maintenant')
  })
})
