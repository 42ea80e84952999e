/**
 * The one way to read a setting: a flag of the same name overrides the environment, an empty value
 * counts as absent, and every error names the variable. `AIRPROOF_API_PORT` is `--api-port`,
 * `NATS_URL` is `--nats-url`.
 */
import { readFileSync } from 'node:fs'
import { dayMs, hourMs, minuteMs, secondMs } from '../core/time.ts'
import { WrongUsage } from './exit.ts'

export type Environment = Readonly<Record<string, string | undefined>>
export type Flags = Readonly<
  Record<string, string | boolean | readonly (string | boolean)[] | undefined>
>
export type SettingsSource = { readonly env: Environment; readonly flags: Flags }

type Default<T> = { readonly default?: T }

/** Each reader returns undefined if the setting is absent and has no default. */
export type Settings = {
  readonly text: <D extends string | undefined>(name: string, options?: Default<D>) => string | D
  /** A whole number within the bounds, both included. */
  readonly int: <D extends number | undefined>(
    name: string,
    options?: Default<D> & { readonly min?: number; readonly max?: number },
  ) => number | D
  readonly port: <D extends number | undefined>(name: string, options?: Default<D>) => number | D
  /** `250ms`, `30s`, `5m`, `2h`, `1d`, in ms. */
  readonly durationMs: <D extends number | undefined>(
    name: string,
    options?: Default<D>,
  ) => number | D
  /** An ISO 8601 day or instant (UTC if it names no offset), in ms since the epoch. */
  readonly timeMs: <D extends number | undefined>(name: string, options?: Default<D>) => number | D
  /** As written, but checked to be a URL of one of the protocols (`http:`). */
  readonly url: <D extends string | undefined>(
    name: string,
    protocols: readonly string[],
    options?: Default<D>,
  ) => string | D
  readonly choice: <T extends string>(name: string, choices: readonly T[], otherwise: T) => T
  /** `NAME`, or the first line of the file that `NAME_FILE` names. */
  readonly secret: (name: string) => string | undefined
  /** `1`, `true`, `yes` and `on` are true; `0`, `false`, `no`, `off` and absent are false. */
  readonly yes: (name: string) => boolean
}

export function readSettings({ env, flags }: SettingsSource): Settings {
  const raw = (name: string): string | undefined => {
    const flag = flags[flagOf(name)]
    const text = typeof flag === 'string' ? flag : flag === true ? 'true' : env[name]
    return text === undefined || text.trim() === '' ? undefined : text.trim()
  }
  const read = <T, D extends T | undefined>(
    name: string,
    options: Default<D> | undefined,
    parse: (text: string) => T | undefined,
    expected: string,
  ): T | D => {
    const text = raw(name)
    // Without a default D is undefined, which is what an absent `default` gives.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (text === undefined) return options?.default as D
    const value = parse(text)
    if (value === undefined)
      throw new WrongUsage(`${name} (--${flagOf(name)}) must be ${expected}, and is "${text}"`)
    return value
  }
  const int: Settings['int'] = (name, options) => {
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = options ?? {}
    const parse = (text: string): number | undefined =>
      /^-?\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined
    return read(name, options, parse, `a whole number from ${min} to ${max}`)
  }
  return {
    text: (name, options) => read(name, options, (text) => text, 'a text'),
    int,
    port: (name, options) => int(name, { ...options, min: 0, max: 65_535 }),
    durationMs: (name, options) =>
      read(name, options, parseDurationMs, 'a duration such as 250ms, 30s, 5m, 2h or 1d'),
    timeMs: (name, options) =>
      read(name, options, parseInstantMs, 'a day or an instant such as 2015-01-01T00:00:00Z'),
    url: (name, protocols, options) =>
      read(
        name,
        options,
        (text) => (isUrlOf(text, protocols) ? text : undefined),
        `a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
      ),
    choice: (name, choices, otherwise) =>
      read(
        name,
        { default: otherwise },
        (text) => choices.find((choice) => choice === text),
        `one of ${choices.join(', ')}`,
      ),
    secret: (name) => raw(name) ?? readSecretFile(`${name}_FILE`, raw(`${name}_FILE`)),
    yes: (name) => read(name, { default: false }, parseYes, 'true or false'),
  }
}

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

/** @returns ms since the epoch, or undefined if the text is not an ISO 8601 day or instant */
function parseInstantMs(text: string): number | undefined {
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

function readSecretFile(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    const [line = ''] = readFileSync(file, 'utf8').split('\n')
    if (line.trim() === '') throw new WrongUsage(`${name} names ${file}, whose first line is empty`)
    return line.trim()
  } catch (cause) {
    if (cause instanceof WrongUsage) throw cause
    throw new WrongUsage(`${name} names ${file}, which cannot be read`, { cause })
  }
}
