/** The colours of the pages, by the contrast that people need. */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { usBands } from '../../core/air/index/us-bands.ts'

type Tokens = ReadonlyMap<string, string>

const css = readFileSync('dashboard/web/public/tokens.css', 'utf8').replaceAll(
  /\/\*[\s\S]*?\*\//g,
  '',
)
// what a browser with the font has says nothing of colours
const [, light = '', dark = '', visionLight = '', visionDark = ''] = css.split(/:root(?!\.inter)/)

const tokensIn = (text: string): Tokens =>
  new Map(
    [...text.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => [name, value]),
  )

const merged = (...blocks: readonly string[]): Tokens => tokensIn(blocks.join('\n'))

const schemes: readonly (readonly [string, Tokens])[] = [
  ['light', merged(light)],
  ['dark', merged(light, dark)],
  ['light, with the other palette', merged(light, visionLight)],
  ['dark, with the other palette', merged(light, dark, visionLight, visionDark)],
]

const linear = (part: number): number =>
  part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4

function lightOf(color: string): number {
  if (!/^#[0-9a-f]{6}$/.test(color)) throw new Error(`no colour of six digits: ${color}`)
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(color.slice(at, at + 2), 16) / 255),
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(tokens: Tokens, first: string, second: string): number {
  const [high = 0, low = 0] = [first, second]
    .map((name) => lightOf(tokens.get(name) ?? name))
    .toSorted((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

describe.each(schemes)('%s', (_name, tokens) => {
  test('text is read on every ground', () => {
    for (const ground of ['--bg', '--surface', '--raised', '--sunken', '--accent-soft'])
      for (const ink of ['--text', '--muted', '--accent', '--bad'])
        expect([ink, ground, contrast(tokens, ink, ground) >= 4.5]).toEqual([ink, ground, true])
    for (const kind of ['ok', 'warn', 'bad', 'accent'])
      expect(contrast(tokens, `--${kind}`, `--${kind}-soft`)).toBeGreaterThanOrEqual(4.5)
    expect(contrast(tokens, '--on-accent', '--accent')).toBeGreaterThanOrEqual(4.5)
    expect(contrast(tokens, '--place', '--land')).toBeGreaterThanOrEqual(4.5)
    // edges of fields
    expect(contrast(tokens, '--edge', '--surface')).toBeGreaterThanOrEqual(3)
  })

  test('every category is read, and its ring stands out from the map', () => {
    for (const category of [...usBands.map((band) => band.category), 'none']) {
      const of = `--cat-${category}`
      expect([of, contrast(tokens, `${of}-ink`, of) >= 4.5]).toEqual([of, true])
      expect([of, contrast(tokens, `${of}-text`, `${of}-soft`) >= 4.5]).toEqual([of, true])
      expect([of, contrast(tokens, `${of}-text`, '--surface') >= 4.5]).toEqual([of, true])
      for (const ground of ['--land', '--water', '--surface'])
        expect([of, ground, contrast(tokens, `${of}-ring`, ground) >= 3]).toEqual([
          of,
          ground,
          true,
        ])
    }
  })
})

test('marks have the colours of the index’s own table', () => {
  const tokens = { epa: tokensIn(light), vision: tokensIn(visionLight) }
  for (const { category, color, colorVision } of usBands) {
    expect(tokens.epa.get(`--cat-${category}`)).toBe(color.toLowerCase())
    expect(tokens.vision.get(`--cat-${category}`)).toBe(colorVision.toLowerCase())
  }
})

test('all styles are one file, so a class is styled by one room of the pages at most', () => {
  const rooms = new Map<string, Set<string>>()
  for (const file of globSync('dashboard/web/{pages/*,charts,map,parts}/*.css')) {
    const rules = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
    const room = file.slice(0, file.lastIndexOf('/'))
    for (const [, selectors = ''] of rules.matchAll(/([^{};@]+)\{/g))
      for (const selector of selectors.split(',')) {
        // what is below an element of the room's own is the room's own
        const [, name] = /^\s*[a-z]*\.([\w-]+)/.exec(selector) ?? []
        if (name !== undefined) rooms.set(name, (rooms.get(name) ?? new Set()).add(room))
      }
  }
  expect(rooms.size).toBeGreaterThan(100)
  expect([...rooms].filter(([, found]) => found.size > 1)).toEqual([])
})

test('the dark scheme changes variables and nothing else: the rest of a page is looked at once', () => {
  const files = globSync('dashboard/web/**/*.css')
  const blocks = files.flatMap((file) => [
    ...readFileSync(file, 'utf8').matchAll(
      /^@media \(prefers-color-scheme[^{]*\{\n([\s\S]*?)^\}/gm,
    ),
  ])
  expect(blocks.length).toBeGreaterThanOrEqual(4)
  const changed = blocks.flatMap(([, body = '']) => [...body.matchAll(/^\s*([\w-]+):/gm)])
  expect(changed.length).toBeGreaterThan(80)
  expect(changed.filter(([, name = '']) => !name.startsWith('--'))).toEqual([])
})
