import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WrongUsage } from '../../runtime/exit.ts'
import { flagOf, parseDurationMs, readSettings } from '../../runtime/settings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const from = (env: Record<string, string>, flags: Record<string, string | boolean> = {}) =>
  readSettings({ env, flags })

test.each([
  ['AIRPROOF_API_PORT', 'api-port'],
  ['AIRPROOF_DATA', 'data'],
  ['NATS_URL', 'nats-url'],
])('%s is the flag --%s', (name, flag) => expect(flagOf(name)).toBe(flag))

test('a flag overrides the variable of the same name', () => {
  expect(from({ AIRPROOF_API_PORT: '1' }, { 'api-port': '2' }).port('AIRPROOF_API_PORT')).toBe(2)
})

test('an empty variable counts as absent', () => {
  expect(from({ AIRPROOF_DATA: ' ' }).text('AIRPROOF_DATA', { default: 'x' })).toBe('x')
  expect(from({ AIRPROOF_DATA: '' }).text('AIRPROOF_DATA')).toBeUndefined()
})

test.each([
  ['250ms', 250],
  ['30s', 30_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['30', undefined],
  ['-1s', undefined],
  ['1.5h', undefined],
  ['1 s', undefined],
])('the duration %s is %s ms', (text, ms) => expect(parseDurationMs(text)).toBe(ms))

test.each([
  ['2015-01-01', Date.UTC(2015, 0, 1)],
  ['2015-01-01T00:00:00Z', Date.UTC(2015, 0, 1)],
  ['2015-01-01T01:00', Date.UTC(2015, 0, 1, 1)],
  ['2015-01-01T01:00:00+01:00', Date.UTC(2015, 0, 1)],
])('the instant %s is UTC if it names no offset', (text, ms) =>
  expect(from({ T: text }).timeMs('T')).toBe(ms),
)

test.each<[string, () => unknown]>([
  ['a port above 65535', () => from({ P: '65536' }).port('P')],
  ['a port in words', () => from({ P: 'eighty' }).port('P')],
  ['a number with a fraction', () => from({ P: '1.5' }).int('P')],
  ['a number below its bound', () => from({ P: '0' }).int('P', { min: 1 })],
  ['a duration without unit', () => from({ P: '30' }).durationMs('P')],
  ['an instant that no calendar has', () => from({ P: '2015-13-01' }).timeMs('P')],
  ['a year alone', () => from({ P: '2015' }).timeMs('P')],
  ['a URL of another protocol', () => from({ P: 'ftp://x' }).url('P', ['http:'])],
  ['a list with a bad address', () => from({ P: 'nats://a:1,b' }).url('P', ['nats:'])],
  ['a choice that is none', () => from({ P: 'loud' }).choice('P', ['info', 'warn'], 'info')],
  ['neither yes nor no', () => from({ P: 'maybe' }).yes('P')],
  ['a secret file that is not there', () => from({ P_FILE: 'no/such/file' }).secret('P')],
])('%s is an error that names the variable', (_what, read) => {
  expect(read).toThrow(WrongUsage)
  expect(read).toThrow(/\bP\b|P_FILE/)
})

test('a secret comes from its variable or from the first line of its file', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'token')
  writeFileSync(file, 's3cret\nnot this\n')
  expect(from({ P_FILE: file }).secret('P')).toBe('s3cret')
  expect(from({ P: 'direct', P_FILE: file }).secret('P')).toBe('direct')
  expect(from({}).secret('P')).toBeUndefined()
})
