/** A query string, read strictly: what we do not understand is refused, never ignored. */
import { parseIso } from '../../core/iso-time.ts'
import { ApiError, badParameter } from './api-error.ts'

export type Params = ReadonlyMap<string, string>

const none: Params = new Map()

/** @throws ApiError 400 for an unknown or repeated name, and for bytes that are not UTF-8 */
export function parseParams(query: string, known: readonly string[]): Params {
  if (query === '') return none
  const params = new Map<string, string>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decodePart(equals === -1 ? pair : pair.slice(0, equals), 'a parameter name')
    if (!known.includes(name)) throw unknownParameter(name, known)
    if (params.has(name)) {
      throw new ApiError(400, 'repeated_parameter', `${name} is given more than once`, {
        details: { parameter: name },
      })
    }
    params.set(name, decodePart(equals === -1 ? '' : pair.slice(equals + 1), name))
  }
  return params
}

const unknownParameter = (name: string, known: readonly string[]): ApiError =>
  new ApiError(
    400,
    'unknown_parameter',
    known.length === 0
      ? 'this address accepts no parameters'
      : `there is no such parameter here; the known ones are ${known.join(', ')}`,
    { details: { parameter: name.slice(0, 100), known } },
  )

/** `+` is a space, as in forms. @throws ApiError 400 */
function decodePart(part: string, where: string): string {
  return decodeText(part.replaceAll('+', ' '), where)
}

/** Percent-decodes. @throws ApiError 400 if the bytes are not UTF-8 */
export function decodeText(text: string, where: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ApiError(400, 'bad_encoding', `${where} is not percent-encoded UTF-8`, {
      details: { part: where, given: text.slice(0, 100) },
    })
  }
}

/** A whole number within the bounds, both included. @throws ApiError 400 */
export function readWhole(
  params: Params,
  name: string,
  {
    min,
    max,
    otherwise,
  }: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  const text = params.get(name)
  if (text === undefined) return otherwise
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) {
    throw badParameter(name, text, `a whole number from ${min} to ${max}`)
  }
  return value
}

export const readLimit = (params: Params, otherwise: number): number =>
  readWhole(params, 'limit', { min: 1, max: 1000, otherwise })

/** @throws ApiError 400 */
export function readChoice<const T extends string>(
  params: Params,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = params.get(name)
  if (text === undefined) return undefined
  const choice = choices.find((known) => known === text)
  if (choice === undefined) throw badParameter(name, text, `one of ${choices.join(', ')}`)
  return choice
}

/** @throws ApiError 400 if it is given but empty */
export function readWord(params: Params, name: string): string | undefined {
  const text = params.get(name)
  if (text?.trim() === '') throw badParameter(name, text, 'a name or an id, not an empty text')
  return text
}

// a `+01:00` that was not percent-encoded arrives as a space
const spacedOffset = / (?=\d{2}(?::?\d{2})?$)/

/**
 * An instant in ms, in the forms that clients may send everywhere: without an offset it is UTC, and
 * a date without a time is its midnight. @returns undefined if it is not a time
 */
export function instantIn(text: string): number | undefined {
  const whole = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00Z` : text
  const verdict = parseIso(
    whole.length > 16 ? whole.slice(0, 16) + whole.slice(16).replace(spacedOffset, '+') : whole,
  )
  return 'timeMs' in verdict ? verdict.timeMs : verdict.asUtcMs
}

/** @throws ApiError 400 */
export function readTime(params: Params, name: string): number | undefined {
  const text = params.get(name)
  if (text === undefined) return undefined
  const timeMs = instantIn(text)
  if (timeMs === undefined || timeMs < 0 || timeMs > latestMs) {
    throw badParameter(
      name,
      text,
      'an ISO 8601 time between 1970 and 2200, for example 2026-01-31T08:00:00Z',
    )
  }
  return timeMs
}

/** No reading is later: both stores refuse it. */
export const latestMs = Date.UTC(2200, 0, 1)

/** start_time (inclusive) and end_time (exclusive), either of which may be given alone. */
export function readPeriod(params: Params): {
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
} {
  const fromMs = readTime(params, 'start_time')
  const toMs = readTime(params, 'end_time')
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) {
    throw badParameter('end_time', params.get('end_time') ?? '', 'later than start_time')
  }
  return { fromMs, toMs }
}

/** Numbers between commas. @throws ApiError 400 */
export function readNumbers(
  params: Params,
  name: string,
  count: number,
  expected: string,
): readonly number[] | undefined {
  const text = params.get(name)
  if (text === undefined) return undefined
  const parts = text.split(',').map((part) => part.trim())
  const numbers = parts.map((part) =>
    /^[+-]?\d{1,6}(\.\d{1,15})?$/.test(part) ? Number(part) : Number.NaN,
  )
  if (numbers.length !== count || numbers.some(Number.isNaN))
    throw badParameter(name, text, expected)
  return numbers
}
