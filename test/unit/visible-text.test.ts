/** Every word that a person sees is in a catalogue (`dashboard/texts`). */
import { globSync, readFileSync } from 'node:fs'
import { parseAst } from 'vite'
import { expect, test } from 'vitest'

type Node = { readonly type: string; readonly [name: string]: unknown }

const shownAttributes = ['aria-label', 'title', 'placeholder', 'alt', 'label', 'summary']
/** What is the same in every language: what is typed, and our own name. */
const isCode = new Set(['code', 'pre', 'kbd', 'script', 'style', 'title'])
const isWord = /\p{L}{2,}/u
const sameEverywhere =
  /^(?:airproof(?:-verify\.js)?|https:\/\/…|AQI|API|UTC|HTTP|SHA-256|ms|PM\d|µg\/m³|CSV|JSON|PNG|[\d\s×·–—.,:;/%()≤≥<>…]|&\w+;)+$/u

const nodesIn = (value: unknown): readonly Node[] => {
  if (Array.isArray(value)) return value.flatMap(nodesIn)
  return typeof value === 'object' && value !== null && 'type' in value ? [value as Node] : []
}

/** The words of JSX, and of the attributes that are read or read out. */
function wordsOfJsx(node: Node): readonly string[] {
  if (node.type === 'JSXElement') {
    const opening = node['openingElement'] as { name?: { name?: string } } | undefined
    if (isCode.has(opening?.name?.name ?? '')) return []
  }
  if (node.type === 'JSXText') return [String(node['value'])]
  if (node.type === 'JSXAttribute') {
    const { name } = node['name'] as { name?: string }
    if (!shownAttributes.includes(name ?? '')) return []
    const { type, value } = (node['value'] ?? {}) as { type?: string; value?: unknown }
    return type === 'Literal' ? [String(value)] : nodesIn(node['value']).flatMap(wordsOfJsx)
  }
  if (node.type === 'JSXExpressionContainer') return wordsOfChoice(node['expression'])
  return Object.values(node).flatMap(nodesIn).flatMap(wordsOfJsx)
}

/** `{isThis ? 'These words' : <b>or these</b>}` */
function wordsOfChoice(value: unknown): readonly string[] {
  return nodesIn(value).flatMap((node) => {
    const { type } = node
    if (type === 'ConditionalExpression')
      return [node['consequent'], node['alternate']].flatMap(wordsOfChoice)
    if (type === 'LogicalExpression') return wordsOfChoice(node['right'])
    if (type === 'Literal') return [String(node['value'])]
    if (type === 'TemplateLiteral')
      return nodesIn(node['quasis']).map((part) => String((part['value'] as { raw: string }).raw))
    return wordsOfJsx(node)
  })
}

/** Of html`…` on the server: what is between tags. */
function wordsOfTemplates(node: Node): readonly string[] {
  const { type, tag, quasi } = node
  const within = Object.values(node).flatMap(nodesIn).flatMap(wordsOfTemplates)
  if (type !== 'TaggedTemplateExpression' || (tag as { name?: string }).name !== 'html')
    return within
  const text = nodesIn((quasi as Node)['quasis'])
    .map((part) => (part['value'] as { raw: string }).raw)
    .join('\0')
  // some templates are a part of a tag: only its attributes
  const shown = text
    .replaceAll(/<[^>]*>?/g, '\0')
    .replaceAll(/[\w-]+="[^"]*(?:"|$)| (?:readonly|required)$/g, '\0')
  return [...shown.split('\0'), ...within]
}

const visibleIn = (file: string): string[] => {
  const source = readFileSync(file, 'utf8')
  const tree = parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node
  const words = file.endsWith('x') ? wordsOfJsx(tree) : wordsOfTemplates(tree)
  return words
    .map((text) => text.trim())
    .filter((text) => isWord.test(text) && !sameEverywhere.test(text))
}

const files = [...globSync('dashboard/web/**/*.tsx'), ...globSync('dashboard/server/**/*.ts')]
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !file.includes('/dist/'))

test('the rule finds words in JSX, in attributes and in templates of the server', () => {
  const jsx = `const A = () => <p title="Hover here">Read <b>this</b> {x ? 'or this' : y && 'that'} <i class={z ? 'not that' : ''}>{f('nor that')}</i> <code>ls</code></p>`
  const words = wordsOfJsx(parseAst(jsx, { lang: 'tsx' }) as unknown as Node)
  expect(words.map((text) => text.trim()).filter(Boolean)).toEqual([
    'Hover here',
    'Read',
    'this',
    'or this',
    'that',
  ])
  const template = 'const a = html`<p class="${b}">Hello ${x.map((y) => html`<b>there</b>`)}</p>`'
  const written = wordsOfTemplates(parseAst(template, { lang: 'ts' }) as unknown as Node)
  expect(written.map((text) => text.trim()).filter(Boolean)).toEqual(['Hello', 'there'])
})

test('no page shows words that are not in a catalogue', () => {
  expect(files.length).toBeGreaterThan(50)
  const found = new Map(
    files.map((file) => [file, visibleIn(file)] as const).filter(([, words]) => words.length > 0),
  )
  expect([...found]).toEqual([])
})

test('no page writes a number or a time by the language of the browser', () => {
  const byBrowser = /\.toLocale\w*String\(/
  expect(byBrowser.test('count.toLocaleString()')).toBe(true)
  const found = globSync('dashboard/**/*.{ts,tsx}', { exclude: ['dashboard/web/dist/**'] }).filter(
    (file) => byBrowser.test(readFileSync(file, 'utf8')),
  )
  expect(found).toEqual([])
})
