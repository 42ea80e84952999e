/**
 * The text that a device signs for one reading (docs/sensors.md). It is the same text for ever: what was
 * signed once is checked against it wherever a reading is proven.
 */

import { toHundredths } from './hundredths.ts'
import { quantities } from './quantities.ts'
import type { Reading } from './reading.ts'

/** The first line. */
const firstLine = 'airproof.device.v1'
/** A signed text is kept with its reading, so it is bounded. */
export const mostSignedValues = 64
const longestValueText = 32
const valueName = /^[A-Za-z0-9_]{1,32}$/

export type SignedValue = readonly [name: string, text: string]

/** Lines joined by one line feed, with none at the end. @param values in any order, each name once */
export const deviceText = (
  sensor: string,
  timeMs: number,
  values: readonly SignedValue[],
): string =>
  [
    firstLine,
    sensor,
    String(timeMs),
    // names are ASCII, so this is the order of their bytes
    ...values.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => `${name}=${text}`),
  ].join('\n')

/**
 * The values of an item that its device signs: each number, also of a quantity that this version does
 * not know, so that a quantity added later changes no text. `measurements` wins where it says anything.
 * @param texts the same as `item`, with each number as its text (`number-texts.ts`)
 * @returns why there is no text for it, for people, if it cannot be signed
 */
export function signedValues(item: object, texts: object): readonly SignedValue[] | string {
  const [nested, nestedTexts] = [fieldsOf(item, 'measurements'), fieldsOf(texts, 'measurements')]
  const found = new Map<string, unknown>()
  for (const [fields, ofFields] of [
    [item, texts],
    [nested, nestedTexts],
  ] as const)
    for (const [name, value] of Object.entries(fields)) {
      if (value === null || !valueName.test(name)) continue
      if (typeof value === 'number') found.set(name, Reflect.get(ofFields, name))
      else found.delete(name)
    }
  const values = [...found].map(([name, text]): SignedValue => [name, String(text)])
  if (values.length === 0) return 'it has no value'
  if (values.length > mostSignedValues) return `it has more than ${mostSignedValues} values`
  const long = values.find(([, text]) => text.length > longestValueText)
  return long === undefined ? values : `${long[0]} has more than ${longestValueText} characters`
}

function fieldsOf(value: object, name: string): object {
  const fields: unknown = Reflect.get(value, name)
  return typeof fields === 'object' && fields !== null ? fields : {}
}

/** A line of a value: its name, and the number as JSON has it. */
const valueLine = /^([A-Za-z0-9_]{1,32})=(?=.{1,32}$)(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

/**
 * Why a signed text is not that of the reading, as a sentence; undefined: it is. The rules are those of a
 * verifier (docs/proofs.md).
 */
export function signedTextFault(
  text: string,
  { sensor, timeMs, values, flags }: Pick<Reading, 'sensor' | 'timeMs' | 'values' | 'flags'>,
): string | undefined {
  const [title, ofSensor, time, ...lines] = text.split('\n')
  if (title !== firstLine) return 'the text is not one that devices sign'
  if (ofSensor !== sensor) return 'the text is of another sensor'
  if (time !== String(timeMs)) return 'the text is of another time'
  if (lines.length < 1 || lines.length > mostSignedValues)
    return `the text has not 1 to ${mostSignedValues} values`
  const signed = new Map<string, number | undefined>()
  let before = ''
  for (const line of lines) {
    const [, name = '', number] = valueLine.exec(line) ?? []
    if (number === undefined) return 'the text has a line that is not a value'
    if (name <= before) return 'the values of the text are not sorted by name'
    before = name
    signed.set(name, toHundredths(Number(number)))
  }
  const other = quantities.find(({ name, droppedFlag, hard }, id) => {
    const value = values[id] ?? undefined
    const said = signed.get(name)
    if (value === said) return false
    // the flag alone is the operator's word
    const isOutside = said !== undefined && (said < hard.low || said > hard.high)
    return value !== undefined || !isOutside || (flags & (1 << droppedFlag)) === 0
  })
  return other && `the ${other.name} that was signed is not that of the reading`
}
