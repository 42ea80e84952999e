/** What an operator's form says about a sensor, checked field by field. */
import { isPlainName } from '../../../core/one-line.ts'
import { type About, aboutOfTexts } from '../../../operate/sensor-about.ts'
import { inWords, WrongUsage } from '../../../runtime/exit.ts'
import { aboutNames } from '../../../schemas/devices/sensor.ts'
import type { Refusal } from '../refusal.ts'
import { wrongFields } from './json-route.ts'

type Body = Readonly<Record<string, unknown>>
type Wrong = { readonly field: string; readonly expected: string }

export type SensorFields = {
  /** '' and a fault where it is not right. */
  readonly text: (field: string, longest: number, options?: { isOptional?: boolean }) => string
  readonly number: (field: string, least: number, most: number, unless?: number) => number
  readonly yes: (field: string) => boolean | undefined
  readonly about: () => About
  readonly fault: (wrong: Wrong) => void
  /** @throws Refusal 400 that names every wrong field */
  readonly settle: () => void
}

/** @param allowed any other field is a fault */
export function sensorFields(body: Body, allowed: readonly string[]): SensorFields {
  const wrong: Wrong[] = Object.keys(body)
    .filter((name) => !allowed.includes(name))
    .map((name) => ({
      field: name.slice(0, 100),
      expected: 'left out: there is no such field',
    }))
  const fault = (one: Wrong): void => void wrong.push(one)
  return {
    fault,
    text: (field, longest, { isOptional = false } = {}) => {
      const value = body[field]
      const clean = typeof value === 'string' ? value.trim().normalize('NFC') : ''
      if (clean === '' && isOptional && (value === undefined || typeof value === 'string'))
        return ''
      if (!isPlainName(clean) || clean.length > longest)
        fault({
          field,
          expected: `a text of 1 to ${longest} characters on one line, none of which reverses the direction of text`,
        })
      return clean
    },
    number: (field, least, most, unless) => {
      const value = body[field] ?? unless
      if (typeof value === 'number' && value >= least && value <= most) return value
      fault({ field, expected: `a number from ${least} to ${most}` })
      return least
    },
    yes: (field) => {
      const value = body[field]
      if (value === undefined || typeof value === 'boolean') return value
      fault({ field, expected: 'true or false' })
      return undefined
    },
    about: () => {
      const named: Record<string, unknown> = {}
      for (const name of aboutNames) {
        const value = body[name]
        if (value === undefined) continue
        // empty: it is not known any more
        const text = value === '' || value === null ? 'none' : wordOf(value)
        if (text === undefined) {
          fault({ field: name, expected: 'a text, a number, true or false' })
          continue
        }
        try {
          Object.assign(
            named,
            aboutOfTexts((one) => (one === name ? text : undefined)),
          )
        } catch (error) {
          if (!(error instanceof WrongUsage)) throw error
          fault({ field: name, expected: inWords(error) })
        }
      }
      return named as About
    },
    settle: () => {
      if (wrong.length > 0) throw wrongFields(wrong) satisfies Refusal
    },
  }
}

/** Of a list: rows whose words would be shown as others than they are. */
export const isShownAsWritten = (text: string): boolean => text === '' || isPlainName(text)

const wordOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? `${value}`
    : undefined
