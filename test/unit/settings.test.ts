import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WrongUsage } from '../../runtime/exit.ts'
import { freshSecret } from '../../runtime/fresh-lines.ts'
import { credentialFiles } from '../../runtime/process/config.ts'
import { flagOf, parseDurationMs, readSettings, readSettingsBy } from '../../runtime/settings.ts'
import type { SettingRow } from '../../runtime/settings-table.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const from = (env: Record<string, string>, flags: Record<string, string | boolean> = {}) =>
  readSettings({ env, flags })

/** A table with one setting, P. */
const by = <const Row extends Partial<SettingRow> & Pick<SettingRow, 'is'>>(
  row: Row,
  env: Record<string, string>,
) => {
  const P = { of: ['all'], since: '0.2', what: 'a test', ...row } as const
  return readSettingsBy({ P }, { env, flags: {} })
}

test.each([
  ['AIRPROOF_API_PORT', 'api-port'],
  ['AIRPROOF_DATA', 'data'],
  ['NATS_URL', 'nats-url'],
])('%s is the flag --%s', (name, flag) => expect(flagOf(name)).toBe(flag))

test('a flag overrides the variable of the same name', () => {
  expect(from({ AIRPROOF_API_PORT: '1' }, { 'api-port': '2' }).port('AIRPROOF_API_PORT')).toBe(2)
})

test('an empty variable counts as absent', () => {
  expect(from({ AIRPROOF_DATA: ' ' }).text('AIRPROOF_DATA')).toBe('.airproof')
  expect(from({ NATS_CREDS: '' }).text('NATS_CREDS')).toBeUndefined()
  expect(from({ NATS_CREDS: '' }).isSet('NATS_CREDS')).toBe(false)
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
  expect(by({ is: 'instant' }, { P: text }).timeMs('P')).toBe(ms),
)

test.each<[string, () => unknown]>([
  ['a port above 65535', () => by({ is: 'port' }, { P: '65536' }).port('P')],
  ['a port in words', () => by({ is: 'port' }, { P: 'eighty' }).port('P')],
  ['a number with a fraction', () => by({ is: 'int' }, { P: '1.5' }).int('P')],
  ['a number below its bound', () => by({ is: 'int', min: 1 }, { P: '0' }).int('P')],
  ['a duration without unit', () => by({ is: 'duration' }, { P: '30' }).durationMs('P')],
  ['an instant that no calendar has', () => by({ is: 'instant' }, { P: '2015-13-01' }).timeMs('P')],
  ['a year alone', () => by({ is: 'instant' }, { P: '2015' }).timeMs('P')],
  [
    'a URL of another protocol',
    () => by({ is: 'url', protocols: ['http:'] }, { P: 'ftp://x' }).url('P'),
  ],
  [
    'a list with a bad address',
    () => by({ is: 'url', protocols: ['nats:'] }, { P: 'nats://a:1,b' }).url('P'),
  ],
  [
    'a choice that is none',
    () => by({ is: 'choice', choices: ['info', 'warn'] }, { P: 'loud' }).choice('P'),
  ],
  ['neither yes nor no', () => by({ is: 'yes' }, { P: 'maybe' }).yes('P')],
  [
    'a secret file that is not there',
    () => by({ is: 'secret' }, { P_FILE: 'no/such/file' }).secret('P'),
  ],
])('%s is an error that names the variable', (_what, read) => {
  expect(read).toThrow(WrongUsage)
  expect(read).toThrow(/\bP\b|P_FILE/)
})

test('a secret comes from its variable or from the first line of its file', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'token')
  writeFileSync(file, 's3cret\nnot this\n')
  const secret = (env: Record<string, string>) => by({ is: 'secret' }, env).secret('P')
  expect(secret({ P_FILE: file })).toBe('s3cret')
  expect(secret({ P: 'direct', P_FILE: file })).toBe('direct')
  expect(secret({})).toBeUndefined()
})

test('a secret may be a credential of systemd; a value, a file and a value that was emptied are used before it', () => {
  using folder = temporaryFolder()
  const credentials = join(folder.path, 'credentials')
  mkdirSync(credentials)
  for (const name of ['NATS_PASSWORD', 'ANCHOR_KEY', 'AIRPROOF_LOG', 'INFLUX_TOKEN'])
    writeFileSync(join(credentials, name), `of ${name}\n`)
  const inCredentials = { CREDENTIALS_DIRECTORY: credentials }
  const found = credentialFiles({ ...inCredentials, INFLUX_TOKEN: '' })
  expect(found).toEqual({
    NATS_PASSWORD_FILE: join(credentials, 'NATS_PASSWORD'),
    ANCHOR_KEY_FILE: join(credentials, 'ANCHOR_KEY'),
  })
  expect(readSettings({ env: { ...found }, flags: {} }).secret('NATS_PASSWORD')).toBe(
    'of NATS_PASSWORD',
  )
  expect(credentialFiles({})).toEqual({})
})

test('a secret in a file is read again when the file has changed, and stays when it is gone', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'secret')
  const now = freshSecret(file, 'first')
  expect(now()).toBe('first')
  writeFileSync(file, 'second\nfirst\n')
  expect(now()).toBe('second')
  writeFileSync(file, '')
  expect(now()).toBe('second')
  writeFileSync(file, 'the third\n')
  expect(now()).toBe('the third')
})
