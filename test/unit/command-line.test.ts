import { expect, test } from 'vitest'
import { commands } from '../../cli/commands.ts'
import { flagFault, joinNegatives, strayFlag } from '../../cli/shell/command-line.ts'
import { sharedFlags } from '../../cli/shell/shared-flags.ts'

const options = {
  area: { type: 'string' },
  json: { type: 'boolean' },
  lat: { type: 'string' },
} as const

test.each([
  [['--aria', 'Ikeja'], 'there is no flag --aria: did you mean --area?'],
  [['--frobnicate'], 'there is no flag --frobnicate'],
  [['-x'], 'there is no flag -x'],
  [['--json=yes'], '--json takes no value, and is given "yes"'],
  [['--area'], '--area needs a value'],
  [
    ['--area', '--json'],
    '--area needs a value, and "--json" comes next: if that is the value, write --area=--json',
  ],
  [['--area', 'Ikeja', '--json', 'word'], undefined],
  [['--', '--aera'], undefined],
])('%j', (args, fault) => {
  expect(flagFault(args, options)).toBe(fault)
})

test.each(Object.entries(commands))(
  '%s has a sentence of ours for what Node refuses',
  async (_name, load) => {
    const all = { ...sharedFlags, ...(await load()).options }
    expect(flagFault(['--no-such-flag-anywhere'], all)).toContain('there is no flag')
    for (const [name, { type }] of Object.entries(all))
      expect(flagFault([`--${name}${type === 'boolean' ? '=1' : ''}`], all)).toContain(`--${name} `)
  },
)

test('a negative number after a flag is its value', () => {
  const args = ['--lat', '-3.2', '--json', '-1', '--area', '-x', '--', '--lat', '-4']
  expect(joinNegatives(args, options)).toEqual([
    '--lat=-3.2',
    '--json',
    '-1',
    '--area',
    '-x',
    '--',
    '--lat',
    '-4',
  ])
})

test('a flag that goes with another verb is refused, and one that all commands take is not', async () => {
  const sensors = await commands['sensors']?.()
  const stray = (words: string[], flags: Record<string, string>): string | undefined =>
    sensors && strayFlag(sensors, words, flags)
  expect(stray(['list'], { area: 'Ikeja', lat: '3' })).toBe(
    '--lat does not go with "list", which takes --area, --json',
  )
  expect(stray(['list'], { area: 'Ikeja', data: 'x', help: 'x' })).toBeUndefined()
  expect(stray(['move', 'ID'], { lat: '3' })).toBeUndefined()
  // what is not a verb is refused by the command itself
  expect(stray(['frobnicate'], { lat: '3' })).toBeUndefined()
})

test.each(Object.entries(commands))(
  'each flag of %s goes with one of its verbs',
  async (_, load) => {
    const { options, flagsOf } = await load()
    if (flagsOf === undefined) return
    const taken = new Set(Object.values(flagsOf).flat())
    expect([...taken].toSorted()).toEqual(Object.keys(options).toSorted())
  },
)
