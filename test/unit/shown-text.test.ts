import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tableLines } from '../../cli/shell/table.ts'
import { shownLine, shownText } from '../../core/shown-text.ts'
import { environment } from '../../runtime/process/config.ts'
import { hostileText, terminalCodes } from '../support/hostile-text.ts'

test('characters that a terminal would obey are escaped, and the rest stays as it is', () => {
  expect(shownText('\u001b]52;c;AAAA\u0007\u009b2J\u202e\u{e0041}')).toBe(
    '\\u001b]52;c;AAAA\\u0007\\u009b2J\\u202e\\udb40\\udc41',
  )
  expect(shownText('a\tb\nọmọ 🐘 Zoë')).toBe('a\tb\nọmọ 🐘 Zoë')
  expect(shownLine('a\tb\nc')).toBe('a\\u0009b\\u000ac')
  expect(shownText(hostileText)).not.toMatch(terminalCodes)
})

test('JSON escaped this way keeps its meaning', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
      const printed = { value, text: text + hostileText }
      const shown = shownText(JSON.stringify(printed, null, 2))
      expect(shown).not.toMatch(terminalCodes)
      expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(printed)))
    }),
  )
})

test('a cell of a table never starts a new row', () => {
  expect(tableLines(['A', 'B'], [['x\nfaked  row', 'y']])).toEqual([
    'A                  B',
    'x\\u000afaked  row  y',
  ])
})

test.each([true, false])('no line of a log has them, on a terminal: %s', (isTerminal) => {
  const program = `
    process.stdout.isTTY = ${isTerminal}
    const { openLog, standardOutput } = await import('./runtime/log.ts')
    const text = ${JSON.stringify(hostileText)}
    const log = openLog({ name: 'test', level: 'info', to: await standardOutput() })
    log.warn({ subject: text, [text]: 1, deep: { list: [text] }, err: new Error(text) }, text)
  `
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { ...environment(), NO_COLOR: '1' },
  })
  expect(printed).toContain(String.raw`\u001b]52;c`)
  expect(printed).not.toMatch(terminalCodes)
})
