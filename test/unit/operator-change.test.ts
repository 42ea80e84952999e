import { expect, test } from 'vitest'
import { commands } from '../../cli/commands.ts'
import { changeOf, changing } from '../../cli/shell/operator-change.ts'

const words = (...all: string[]) => ({ words: all, flags: {}, env: {}, note: () => undefined })

/** They write nothing that the processes share, or are one of these processes. */
const reading: Readonly<Record<string, readonly string[]>> = {
  accounts: ['list'],
  keys: ['list'],
  sensors: ['list', 'show'],
  applications: ['list'],
  webhooks: ['list', 'show'],
  rejected: ['list', 'show'],
  map: ['build'],
  // another store, and .env
  store: ['copy'],
}

test('each verb of each command either is in the operators’ log, or only reads', async () => {
  const unlisted: string[] = []
  for (const [name, load] of Object.entries(commands)) {
    const listed = [...(changing[name] ?? []), ...(reading[name] ?? [])]
    for (const verb of Object.keys((await load()).flagsOf ?? {}))
      if (!listed.includes(verb)) unlisted.push(`${name} ${verb}`)
  }
  expect(unlisted).toEqual([])
  expect(Object.keys(changing).filter((name) => commands[name] === undefined)).toEqual([])
})

test('a command that only says what it would do, or reads, is not in the log', () => {
  expect(changeOf('streams', words())?.what).toBe('streams')
  expect(changeOf('streams', { ...words(), flags: { 'dry-run': true } })).toBeUndefined()
  expect(changeOf('keys', words('list'))).toBeUndefined()
  expect(changeOf('keys', words('revoke', 'key_1'))?.what).toBe('keys revoke')
  expect(changeOf('anchor', words())).toBeUndefined()
})
