/** The query parameters of an operator's request. */
import { Refusal } from '../refusal.ts'

/** @throws Refusal 400 */
export function choiceOf<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = query.get(name) ?? ''
  if (text === '') return undefined
  const choice = choices.find((name) => name === text)
  if (choice !== undefined) return choice
  throw badParameter(name, text, `one of ${choices.join(', ')}`)
}

/** @throws Refusal 400 */
export function wholeOf(
  query: URLSearchParams,
  name: string,
  { least = 1, most, unless }: { least?: number; most: number; unless: number },
): number {
  const text = query.get(name) ?? ''
  if (text === '') return unless
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw badParameter(name, text, `a whole number from ${least} to ${most}`)
}

const badParameter = (parameter: string, given: string, expected: string): Refusal =>
  new Refusal(400, 'bad_parameter', `${parameter} must be ${expected}`, {
    details: { parameter, given: given.slice(0, 100), expected },
  })
