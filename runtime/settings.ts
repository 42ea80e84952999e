/**
 * The one way to read a setting, which is a row of `settings-table.ts`: a flag of the same name overrides the environment, an empty value
 * counts as absent, and every error names the variable. `AIRPROOF_API_PORT` is `--api-port`,
 * `NATS_URL` is `--nats-url`.
 */
import { readFileSync } from 'node:fs'
import { dayMs, hourMs, minuteMs, secondMs } from '../core/time.ts'
import { WrongUsage } from './exit.ts'
import { type SettingRow, settingsTable } from './settings-table.ts'

export type Environment = Readonly<Record<string, string | undefined>>
export type Flags = Readonly<
  Record<string, string | boolean | readonly (string | boolean)[] | undefined>
>
export type SettingsSource = { readonly env: Environment; readonly flags: Flags }

type Table = Readonly<Record<string, SettingRow>>
/** The names of one kind. */
type Names<T extends Table, Is extends SettingRow['is']> = {
  [Name in keyof T]: T[Name]['is'] extends Is ? Name : never
}[keyof T] &
  string
/** Nothing, where the setting has a default. */
type OrAbsent<Row> = Row extends { readonly default: string } ? never : undefined
type ChoiceOf<Row> = Row extends { readonly choices: readonly (infer Choice)[] } ? Choice : never

/** Each reader takes a name of its kind, and returns undefined if it is absent and has no default. */
export type SettingsOf<T extends Table> = {
  readonly text: <N extends Names<T, 'text'>>(name: N) => string | OrAbsent<T[N]>
  /** A whole number within the bounds of its row, both included. */
  readonly int: <N extends Names<T, 'int'>>(name: N) => number | OrAbsent<T[N]>
  readonly port: <N extends Names<T, 'port'>>(name: N) => number | OrAbsent<T[N]>
  /** `250ms`, `30s`, `5m`, `2h`, `1d`, in ms. */
  readonly durationMs: <N extends Names<T, 'duration'>>(name: N) => number | OrAbsent<T[N]>
  /** An ISO 8601 day or instant (UTC if it names no offset), in ms since the epoch. */
  readonly timeMs: <N extends Names<T, 'instant'>>(name: N) => number | OrAbsent<T[N]>
  /** As written, but checked to be a URL of one of the row's protocols (`http:`). */
  readonly url: <N extends Names<T, 'url'>>(name: N) => string | OrAbsent<T[N]>
  readonly choice: <N extends Names<T, 'choice'>>(name: N) => ChoiceOf<T[N]>
  /** `NAME`, or the first line of the file that `NAME_FILE` names. */
  readonly secret: (name: Names<T, 'secret'>) => string | undefined
  /** The file that `secret` reads, for what reads it again later; undefined: the value is in `NAME` itself. */
  readonly secretFile: (name: Names<T, 'secret'>) => string | undefined
  /** `1`, `true`, `yes` and `on` are true; `0`, `false`, `no`, `off` and absent are false. */
  readonly yes: (name: Names<T, 'yes'>) => boolean
  /** Something other than its default may be meant. */
  readonly isSet: (name: keyof T & string) => boolean
}

export type Settings = SettingsOf<typeof settingsTable>

export const readSettings = (source: SettingsSource): Settings =>
  readSettingsBy(settingsTable, source)

export function readSettingsBy<const T extends Table>(
  table: T,
  { env, flags }: SettingsSource,
): SettingsOf<T> {
  const raw = (name: string): string | undefined => {
    const flag = flags[flagOf(name)]
    const text = typeof flag === 'string' ? flag : flag === true ? 'true' : env[name]
    return text === undefined || text.trim() === '' ? undefined : text.trim()
  }
  const rowOf = (name: string): SettingRow => {
    const row = table[name]
    if (row === undefined) throw new Error(`runtime/settings-table.ts has no setting ${name}`)
    return row
  }
  const read = <Value, Row>(
    name: string,
    parse: (text: string, row: SettingRow) => Value | undefined,
    expected: (row: SettingRow) => string,
  ): Value | OrAbsent<Row> => {
    const row = rowOf(name)
    const text = raw(name) ?? row.default
    // a row with a default is never absent
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (text === undefined) return undefined as OrAbsent<Row>
    const value = parse(text, row)
    if (value === undefined)
      throw new WrongUsage(`${name} (--${flagOf(name)}) must be ${expected(row)}, and is "${text}"`)
    return value
  }
  return {
    text: (name) =>
      read(
        name,
        (text) => text,
        () => 'a text',
      ),
    int: (name) => read(name, parseInt10, wholeNumber),
    port: (name) =>
      read(
        name,
        (text) => parseInt10(text, portRow),
        () => wholeNumber(portRow),
      ),
    durationMs: (name) =>
      read(name, parseDurationMs, () => 'a duration such as 250ms, 30s, 5m, 2h or 1d'),
    timeMs: (name) => read(name, parseInstantMs, () => instantInWords),
    url: (name) =>
      read(
        name,
        (text, { protocols = [] }) => (isUrlOf(text, protocols) ? text : undefined),
        ({ protocols = [] }) =>
          `a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
      ),
    choice: (name) =>
      // the choices of the row are those of its type
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      read(
        name,
        (text, { choices = [] }) => choices.find((choice) => choice === text),
        ({ choices = [] }) => `one of ${choices.join(', ')}`,
      ) as ChoiceOf<T[typeof name]>,
    secret: (name) => raw(name) ?? readSecretFile(`${name}_FILE`, raw(`${name}_FILE`)),
    secretFile: (name) => (raw(name) === undefined ? raw(`${name}_FILE`) : undefined),
    yes: (name) => read(name, parseYes, () => 'true or false') ?? false,
    isSet: (name) => raw(name) !== undefined || raw(`${name}_FILE`) !== undefined,
  }
}

const portRow = { min: 0, max: 65_535 }

type Bounds = Pick<SettingRow, 'min' | 'max'>

const parseInt10 = (text: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds) =>
  /^-?\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined

const wholeNumber = ({ min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds): string =>
  `a whole number from ${min} to ${max}`

/** `AIRPROOF_API_PORT` → `api-port`, `NATS_URL` → `nats-url`. */
export const flagOf = (name: string): string =>
  name
    .replace(/^AIRPROOF_/, '')
    .toLowerCase()
    .replaceAll('_', '-')

const unitMs = { ms: 1, s: secondMs, m: minuteMs, h: hourMs, d: dayMs }

/** @returns ms, or undefined if the text is not a duration */
export function parseDurationMs(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  const match = Object.entries(unitMs).find(([name]) => name === unit)
  return match ? Number(count) * match[1] : undefined
}

export const instantInWords = 'a day or an instant such as 2015-01-01T00:00:00Z'

/** @returns ms since the epoch, or undefined if the text is not an ISO 8601 day or instant */
export function parseInstantMs(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text))
    return undefined
  const hasZone = !text.includes('T') || /(Z|[+-]\d\d:\d\d)$/.test(text)
  const timeMs = Date.parse(hasZone ? text : `${text}Z`)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

/** A NATS address may be a list separated by commas: each part must match. */
const isUrlOf = (text: string, protocols: readonly string[]): boolean =>
  text.split(',').every((part) => {
    const url = URL.parse(part.trim())
    return url !== null && protocols.includes(url.protocol) && url.hostname !== ''
  })

export function parseYes(text: string): boolean | undefined {
  if (/^(1|true|yes|on)$/i.test(text)) return true
  return /^(0|false|no|off)$/i.test(text) ? false : undefined
}

/**
 * The secrets of a file: one, or two while it is rotated (docs/secrets.md). What comes after an empty line is not read.
 * @throws if it cannot be read
 */
export function secretLines(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
  const end = lines.indexOf('')
  return end < 0 ? lines : lines.slice(0, end)
}

function readSecretFile(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    const [line] = secretLines(file)
    if (line === undefined) throw new WrongUsage(`${name} names ${file}, whose first line is empty`)
    return line
  } catch (cause) {
    if (cause instanceof WrongUsage) throw cause
    throw new WrongUsage(`${name} names ${file}, which cannot be read`, { cause })
  }
}
