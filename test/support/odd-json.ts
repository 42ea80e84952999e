/** What no device sends but any client may: JSON as text, since JSON.stringify has a limited depth. */
import fc from 'fast-check'

const deep = (open: string, close: string): string =>
  `${open.repeat(10_000)}1${close.repeat(10_000)}`

/** Numbers at every edge: of doubles, of safe integers, of `Date`, of other units than ms. */
const numbers = [
  '1e308',
  '-1e308',
  '1e400',
  '-1e400',
  '5e-324',
  '-0',
  '0',
  '9e15',
  '9007199254740992',
  '9007199254740993',
  '9000000000000001',
  '-9000000000000001',
  '8640000000000000',
  '8640000000000001',
  '-8640000000000001',
  '253402300799999',
  '253402300800000',
  '-62167219200001',
  // now, in s, µs and ns
  '1763708400',
  '1763708400000000',
  '1763708400000000000',
  '-1',
  '0.1',
]

const texts = [
  'NaN',
  'nan',
  'None',
  'Infinity',
  '1e308',
  '9'.repeat(32),
  `-${'9'.repeat(31)}`,
  '',
  ' ',
  '\u0000',
  '\u001b]52;c;AAAA\u0007',
  '\ud800',
  '\u202e\u05d0\u0627',
  '__proto__',
  'constructor',
  'x'.repeat(20_000),
  '+275761-01-01T00:00:00Z',
  '275760-09-13T00:00:00.001Z',
  '9999-12-31T23:59:59-23:59',
  '0000-01-01T00:00:00+23:59',
  '-000001-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
]

const whole = ['null', 'true', '[]', '{}', deep('[', ']'), deep('{"a":', '}'), '{"__proto__":1}']

/** One value as JSON text. */
export const oddValue = (): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...numbers) },
    { weight: 1, arbitrary: fc.constantFrom(...whole) },
    { weight: 2, arbitrary: fc.constantFrom(...texts).map((text) => JSON.stringify(text)) },
    { weight: 1, arbitrary: fc.oneof(fc.double(), fc.maxSafeInteger()).map(String) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)) },
    { weight: 1, arbitrary: fc.json() },
  )

type Path = readonly (string | number)[]

/** The paths of everything in a body, the body itself aside. */
function pathsIn(value: unknown, before: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...before, key]
    return [path, ...pathsIn(inner, path)]
  })
}

/** Text that no body holds, to be replaced by an odd value. */
const mark = (place: number): string => `@@${place}@@`

function withMark(value: unknown, [key, ...rest]: Path, place: number): unknown {
  if (key === undefined) return mark(place)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) =>
    name === key ? [name, withMark(inner, rest, place)] : [name, inner],
  )
  const changed: Record<string, unknown> = Object.fromEntries(entries)
  return Array.isArray(value) ? Object.values(changed) : changed
}

/**
 * A real body of a device with some of its values odd, as JSON text; or nothing of it is left.
 * @param more keys that are odd half of the time: those of times, and those that the body lacks
 */
export function oddBody(body: object, more: readonly string[] = []): fc.Arbitrary<string> {
  const full = { ...Object.fromEntries(more.map((key) => [key, 0])), ...body }
  const anywhere = pathsIn(full)
  const named = anywhere.filter(([key]) => more.some((name) => name === key))
  const path = fc.oneof(
    fc.constantFrom(...anywhere),
    fc.constantFrom(...named, ...anywhere.slice(0, 1)),
  )
  const change = fc.tuple(path, oddValue())
  const changed = fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    const marked = changes.reduce<unknown>(
      (value, [path], place) => withMark(value, path, place),
      full,
    )
    return changes.reduce(
      (text, [, odd], place) => text.replace(`"${mark(place)}"`, () => odd),
      JSON.stringify(marked),
    )
  })
  return fc.oneof(
    { weight: 8, arbitrary: changed },
    { weight: 1, arbitrary: oddValue() },
    { weight: 1, arbitrary: fc.string() },
  )
}
