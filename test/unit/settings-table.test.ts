import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settingsPage } from '../../cli/settings.ts'
import { readSettings, readSettingsBy } from '../../runtime/settings.ts'
import { type SettingRow, settingsTable } from '../../runtime/settings-table.ts'
import { settingNames, unknownSettings } from '../../runtime/unknown-settings.ts'

const rows = Object.entries<SettingRow>(settingsTable)

test('docs/settings.md is what `airproof settings --markdown` prints', () => {
  expect(readFileSync('docs/settings.md', 'utf8')).toBe(`${settingsPage().join('\n')}\n`)
})

test.each(rows.filter(([, row]) => row.default !== undefined))(
  'the default of %s is read as any other value',
  (name, row) => {
    const readers = readSettingsBy({ [name]: row }, { env: {}, flags: {} })
    const read = {
      text: readers.text,
      int: readers.int,
      port: readers.port,
      duration: readers.durationMs,
      instant: readers.timeMs,
      url: readers.url,
      choice: readers.choice,
      secret: readers.secret,
      yes: readers.yes,
    }[row.is] as (name: string) => unknown
    expect(read(name)).toBeDefined()
  },
)

/** Names in quotes or as a property of `env`, as code reads them. */
const namesIn = (text: string): readonly string[] =>
  [
    ...text.matchAll(
      /(?:['"`]|\benv\.|\$\{)((?:AIRPROOF|ANCHOR|NATS|INFLUX|CHAIN|SMTP|MAIL)_[A-Z_]+)\b/g,
    ),
  ]
    .map(([, name]) => name ?? '')
    .filter((name) => !notSettings.has(name))

/** Reasons, parts of a name, variables of clients and of InfluxDB's image. */
const notSettings = new Set([
  'CHAIN_AWAY',
  'AIRPROOF_KEY',
  'AIRPROOF_URL',
  'AIRPROOF_TEST_RUN',
  'AIRPROOF_YEAR',
  'AIRPROOF_ZONE',
  'NATS_CALLOUT',
  'NATS_SYSTEM',
])

const tracked = (...patterns: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', ...patterns], { encoding: 'utf8' })
    .trim()
    .split('\n')

const unlisted = (files: readonly string[]): readonly string[] =>
  files.flatMap((file) =>
    namesIn(readFileSync(file, 'utf8'))
      .filter((name) => !settingNames.includes(name))
      .map((name) => `${file}: ${name}`),
  )

test('every setting that code, compose or a page names is in the table', () => {
  const code = tracked('*.ts', '*.mjs').filter((file) => !/^(test|bench|clients)\//.test(file))
  expect(unlisted([...code, ...tracked('docs/*.md', 'README.md', 'SECURITY.md')])).toEqual([])
  // canary
  expect(namesIn("settings.text('AIRPROOF_NEW') `NATS_NEW` env.ANCHOR_NEW")).toEqual([
    'AIRPROOF_NEW',
    'NATS_NEW',
    'ANCHOR_NEW',
  ])
})

test('every setting of the table is read', () => {
  const code = tracked('*.ts')
    .filter((file) => !/^(test|bench)\/|settings-table/.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const isRead = (name: string): boolean =>
    code.includes(`'${name}'`) || /^NATS_(CALLOUT_|SYSTEM_)?(USER|PASSWORD)$/.test(name)
  expect(rows.map(([name]) => name).filter((name) => !isRead(name))).toEqual([])
})

test('a name that no table has cannot be read, whatever types say', () => {
  const { text } = readSettings({ env: { AIRPROOF_X: '1' }, flags: {} })
  expect(() => (text as (name: string) => unknown)('AIRPROOF_X')).toThrow('AIRPROOF_X')
})

test('an unknown name is reported with the nearest one, and without its value', () => {
  expect(
    unknownSettings({
      AIRPROOF_API_PROT: 's3cret',
      ANCHOR_KEYFILE: 'x',
      AIRPROOF_QUITE_ELSE_XYZ_123: 'y',
      AIRPROOF_SECRET_FILE: 'known',
      AIRPROOF_KEY: 'of an example',
      NATS_CONTEXT: 'of another program',
    }),
  ).toEqual([
    'AIRPROOF_API_PROT is set, and airproof has no setting of that name: did you mean AIRPROOF_API_PORT?',
    'AIRPROOF_QUITE_ELSE_XYZ_123 is set, and airproof has no setting of that name: `airproof settings` lists all',
    'ANCHOR_KEYFILE is set, and airproof has no setting of that name: did you mean ANCHOR_KEY_FILE?',
  ])
})
