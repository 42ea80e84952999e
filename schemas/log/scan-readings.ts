/**
 * Raw messages of the shapes that sensors send, read from their bytes in one pass: an object, or an array of
 * them, of plain texts and numbers, with values flat or under `measurements`. It makes no texts and no
 * objects of JSON: the time goes straight to ms, and each value to hundredths.
 *
 * It knows no errors. Whatever is unusual it leaves to `raw-reading.ts`: escapes and other than ASCII in
 * texts, exponents and very long numbers, a field that is there twice, lists and objects in unknown
 * fields, signatures, and all that is wrong. So there is one place that says what is wrong, and a test
 * compares both (`test/unit/scan-readings.test.ts`).
 *
 * Functions that read something return where it ends, or `unusual`.
 */
import { quantityIds } from '../../core/air/quantities.ts'
import type { Values } from '../../core/air/values.ts'
import { parseIso } from '../../core/iso-time.ts'
import { hourMs, minuteMs, secondMs } from '../../core/time.ts'
import { maxRawBytes, maxRawItems } from './raw-reading.ts'

/** What a reading says; everything else that it holds means nothing. */
export type SentReading = {
  /** undefined: it names none. */
  readonly sensorId: string | undefined
  readonly timeMs: number
  readonly isTimeAssigned: boolean
  readonly values: Values
}

/**
 * @param sender of the message: where a reading names it, no text is made
 * @param count how many quantities are taken: the first of the table
 * @returns undefined: it has to be read as JSON
 */
export function scanReadings(
  bytes: Uint8Array,
  sender: string,
  count: number,
): readonly SentReading[] | undefined {
  if (bytes.length > maxRawBytes) return undefined
  const readings: SentReading[] = []
  let at = skipBlanks(bytes, 0)
  const isList = bytes[at] === openBracket
  do {
    const draft = newDraft(sender, count)
    at = readObject(bytes, isList ? skipBlanks(bytes, at + 1) : at, draft, false)
    if (at === unusual || Number.isNaN(draft.timeMs)) return undefined
    if (readings.push(draft) > maxRawItems) return undefined
    at = skipBlanks(bytes, at)
  } while (isList && bytes[at] === comma)
  if (isList) at = bytes[at] === closeBracket ? skipBlanks(bytes, at + 1) : unusual
  return at === bytes.length ? readings : undefined
}

/** A reading of which some fields have been read. */
type Draft = {
  readonly sender: string
  readonly count: number
  sensorId: string | undefined
  timeMs: number
  isTimeAssigned: boolean
  readonly values: (number | null)[]
  /** A bit for each quantity that was there flat, and under `measurements`, and for each other field. */
  flat: number
  nested: number
  others: number
  /** Quantities of which a number was there under `measurements`, which wins. */
  measured: number
}

const newDraft = (sender: string, count: number): Draft => ({
  sender,
  count,
  sensorId: undefined,
  timeMs: Number.NaN,
  isTimeAssigned: false,
  values: [null, null, null, null, null],
  flat: 0,
  nested: 0,
  others: 0,
  measured: 0,
})

const unusual = -1
const byteOf = (character: string): number => character.charCodeAt(0)
const openBrace = byteOf('{')
const closeBrace = byteOf('}')
const openBracket = byteOf('[')
const closeBracket = byteOf(']')
const colon = byteOf(':')
const comma = byteOf(',')
const quote = byteOf('"')
const minus = byteOf('-')
const plus = byteOf('+')
const point = byteOf('.')
const space = byteOf(' ')
const zero = byteOf('0')

/** 1: it may be in a text as it is. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= space && byte < 0x80 && byte !== quote && byte !== byteOf('\\') ? 1 : 0,
)
const isDigit = (byte: number): boolean => byte >= zero && byte <= zero + 9

function skipBlanks(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at]! <= space && (bytes[at] === space || isOtherBlank(bytes[at]!))) at++
  return at
}
const isOtherBlank = (byte: number): boolean => byte === 0x0a || byte === 0x0d || byte === 0x09

function readObject(bytes: Uint8Array, from: number, draft: Draft, isNested: boolean): number {
  if (bytes[from] !== openBrace) return unusual
  let at = skipBlanks(bytes, from + 1)
  if (bytes[at] === closeBrace) return at + 1
  for (;;) {
    const end = endOfText(bytes, at)
    if (end === unusual) return unusual
    const field = fieldNamed(bytes, at + 1, end - 1)
    at = skipBlanks(bytes, end)
    if (bytes[at] !== colon) return unusual
    at = skipBlanks(bytes, at + 1)
    at =
      field >= 0
        ? readQuantity(bytes, at, draft, field, isNested)
        : field === unknownField || isNested
          ? skipValue(bytes, at)
          : readField(bytes, at, draft, field)
    if (at === unusual) return unusual
    at = skipBlanks(bytes, at)
    if (bytes[at] === closeBrace) return at + 1
    if (bytes[at] !== comma) return unusual
    at = skipBlanks(bytes, at + 1)
  }
}

function endOfText(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== quote) return unusual
  let at = from + 1
  while (isPlain[bytes[at]!] === 1) at++
  return bytes[at] === quote ? at + 1 : unusual
}

type Field = { readonly name: Uint8Array; readonly number: number }
/** Quantities are numbered by their ids, and the other fields below 0. */
const fieldNumbers = {
  sensor_id: -1,
  timestamp: -2,
  time_assigned: -3,
  measurements: -4,
  sig: -5,
} as const
const unknownField = -6

const places = 1_024
/** Of the fields whose names have this length, first and last byte. */
const placeOf = (length: number, first: number, last: number): number =>
  (length * 37 + first * 5 + last * 11) & (places - 1)
const fields = fieldTable()

function fieldTable(): readonly (readonly Field[])[] {
  const table = Array.from({ length: places }, (): Field[] => [])
  for (const [text, number] of Object.entries({ ...quantityIds, ...fieldNumbers })) {
    const name = new TextEncoder().encode(text)
    table[placeOf(name.length, name[0]!, name.at(-1)!)]!.push({ name, number })
  }
  return table
}

function fieldNamed(bytes: Uint8Array, from: number, end: number): number {
  if (from === end) return unknownField
  const candidates = fields[placeOf(end - from, bytes[from]!, bytes[end - 1]!)]!
  for (let i = 0; i < candidates.length; i++) {
    const { name, number } = candidates[i]!
    if (name.length === end - from && isAt(bytes, from, name)) return number
  }
  return unknownField
}

function isAt(bytes: Uint8Array, from: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false
  return true
}

function readField(bytes: Uint8Array, at: number, draft: Draft, field: number): number {
  const bit = 1 << -field
  if ((draft.others & bit) !== 0) return unusual
  draft.others |= bit
  switch (field) {
    case fieldNumbers.sensor_id:
      return readSensor(bytes, at, draft)
    case fieldNumbers.timestamp:
      return readTime(bytes, at, draft)
    case fieldNumbers.time_assigned:
      draft.isTimeAssigned = isAt(bytes, at, words.true)
      return draft.isTimeAssigned ? at + 4 : isAt(bytes, at, words.false) ? at + 5 : unusual
    case fieldNumbers.measurements:
      return readObject(bytes, at, draft, true)
    default:
      return unusual
  }
}

function readSensor(bytes: Uint8Array, at: number, draft: Draft): number {
  const end = endOfText(bytes, at)
  if (end === unusual) return unusual
  const { sender } = draft
  let isSender = sender.length === end - at - 2
  for (let i = 0; isSender && i < sender.length; i++)
    isSender = bytes[at + 1 + i] === sender.charCodeAt(i)
  draft.sensorId = isSender ? sender : String.fromCharCode(...bytes.subarray(at + 1, end - 1))
  return end
}

const words = {
  true: new TextEncoder().encode('true'),
  false: new TextEncoder().encode('false'),
  null: new TextEncoder().encode('null'),
} as const

function readQuantity(
  bytes: Uint8Array,
  at: number,
  draft: Draft,
  id: number,
  isNested: boolean,
): number {
  const bit = 1 << id
  if (((isNested ? draft.nested : draft.flat) & bit) !== 0) return unusual
  if (isNested) draft.nested |= bit
  else draft.flat |= bit
  if (bytes[at] === words.null[0]) return isAt(bytes, at, words.null) ? at + 4 : unusual
  const end = endOfNumber(bytes, at)
  if (end === unusual) return unusual
  if (id >= draft.count || (!isNested && (draft.measured & bit) !== 0)) return end
  const hundredths = hundredthsAt(bytes, at, end)
  if (Number.isNaN(hundredths)) return unusual
  if (isNested) draft.measured |= bit
  const { values } = draft
  while (values.length < id) values.push(null)
  values[id] = hundredths
  return end
}

/** Of a number without exponent. */
function endOfNumber(bytes: Uint8Array, from: number): number {
  const start = bytes[from] === minus ? from + 1 : from
  let at = start
  while (isDigit(bytes[at]!)) at++
  if (at === start || (bytes[start] === zero && at > start + 1)) return unusual
  if (bytes[at] !== point) return at
  const first = ++at
  while (isDigit(bytes[at]!)) at++
  return at === first ? unusual : at
}

/** Decimals of so many digits doubles keep apart. */
const mostDigits = 15
/** No quantity has more before its point. */
const mostWholeDigits = 7

/** As `toHundredths` of the number there; NaN: it has too many digits. */
function hundredthsAt(bytes: Uint8Array, from: number, end: number): number {
  if (end - from > mostDigits) return Number.NaN
  const isNegative = bytes[from] === minus
  let at = isNegative ? from + 1 : from
  const wholeEnd = at + mostWholeDigits
  let size = 0
  for (; at < end && bytes[at] !== point; at++) size = size * 10 + bytes[at]! - zero
  if (at > wholeEnd) return Number.NaN
  size *= 100
  if (at + 1 < end) size += (bytes[at + 1]! - zero) * 10
  if (at + 2 < end) size += bytes[at + 2]! - zero
  if (at + 3 < end && bytes[at + 3]! - zero >= 5) size++
  return isNegative && size !== 0 ? -size : size
}

function skipValue(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]!
  if (byte === quote) return endOfText(bytes, at)
  if (byte === minus || isDigit(byte)) return endOfNumber(bytes, at)
  for (const word of [words.null, words.true, words.false])
    if (isAt(bytes, at, word)) return at + word.length
  return unusual
}

/** The day that was read last: nearly all readings are of it. */
const day = { number: Number.NaN, startMs: Number.NaN }

/** @param number as YYYYMMDD @returns NaN: there is no such day */
function startOfDay(number: number): number {
  if (number === day.number) return day.startMs
  const digits = String(number).padStart(8, '0')
  const verdict = parseIso(`${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}T00:00Z`)
  if (!('timeMs' in verdict)) return Number.NaN
  day.number = number
  day.startMs = verdict.timeMs
  return day.startMs
}

/** NaN: it is not two digits. */
function pairAt(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]!
  const ones = bytes[at + 1]!
  return isDigit(tens) && isDigit(ones) ? (tens - zero) * 10 + ones - zero : Number.NaN
}

/** Of 2096: what is later has to be read as JSON. */
const latestMs = 4e12

/** `YYYY-MM-DDTHH:MM:SS[.fraction]`, then `Z` or `±HH:MM`. */
function readTime(bytes: Uint8Array, from: number, draft: Draft): number {
  const at = from + 1
  const hasMarks =
    bytes[from] === quote &&
    bytes[at + 4] === minus &&
    bytes[at + 7] === minus &&
    bytes[at + 10] === byteOf('T') &&
    bytes[at + 13] === colon &&
    bytes[at + 16] === colon
  if (!hasMarks) return unusual
  const yearMonth = pairAt(bytes, at) * 10_000 + pairAt(bytes, at + 2) * 100 + pairAt(bytes, at + 5)
  const hour = pairAt(bytes, at + 11)
  const minute = pairAt(bytes, at + 14)
  const second = pairAt(bytes, at + 17)
  if (!(hour < 24 && minute < 60 && second < 60)) return unusual
  let timeMs =
    startOfDay(yearMonth * 100 + pairAt(bytes, at + 8)) +
    hour * hourMs +
    minute * minuteMs +
    second * secondMs
  let end = at + 19
  if (bytes[end] === point) {
    const first = ++end
    for (let unit = 100; isDigit(bytes[end]!); unit /= 10, end++)
      if (unit >= 1) timeMs += (bytes[end]! - zero) * unit
    if (end === first || end > first + 9) return unusual
  }
  const sign = bytes[end]
  if (sign === byteOf('Z')) end++
  else {
    const hours = pairAt(bytes, end + 1)
    const minutes = pairAt(bytes, end + 4)
    const isOffset = (sign === plus || sign === minus) && bytes[end + 3] === colon
    if (!(isOffset && hours < 24 && minutes < 60)) return unusual
    timeMs -= (sign === plus ? 1 : -1) * (hours * hourMs + minutes * minuteMs)
    end += 6
  }
  if (bytes[end] !== quote || !(timeMs >= 0 && timeMs < latestMs)) return unusual
  draft.timeMs = timeMs
  return end + 1
}
