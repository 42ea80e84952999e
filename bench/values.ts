/**
 * What a reading's values cost as a list by id, compared with an object by name: each step of the
 * hot path as it is, and as it was written with names.
 */
import { judgeValues } from '../core/air/quality.ts'
import { quantityIds, quantityNames } from '../core/air/quantities.ts'
import { mostValues, sameValues, trimmed, type Values } from '../core/air/values.ts'

const readings = 4_096
const rounds = 400

type Named = {
  pm25: number | null
  pm10: number | null
  co2: number | null
  temperature: number | null
  humidity: number | null
}

const some = Array.from(
  { length: readings },
  (_, n): Named => ({
    pm25: 1_000 + n,
    pm10: 2_000 + n,
    co2: n % 3 === 0 ? null : 41_000 + n,
    temperature: 2_900,
    humidity: 6_500 + (n % 300),
  }),
)
const lists: Values[] = some.map(({ pm25, pm10, co2, temperature, humidity }) => [
  pm25,
  pm10,
  co2,
  temperature,
  humidity,
])
const others = lists.map((values) => [...values])
const otherNamed = some.map((values) => ({ ...values }))
const width = 7 + mostValues
const rows = new Int32Array(readings * width)
const none = -(2 ** 31)
let sink = 0

/** Nanoseconds per reading, the best of several runs. */
function nsOf(work: (n: number) => void): number {
  let best = Infinity
  for (let run = 0; run < 7; run++) {
    const startMs = performance.now()
    for (let round = 0; round < rounds; round++) for (let n = 0; n < readings; n++) work(n)
    best = Math.min(best, ((performance.now() - startMs) * 1e6) / (rounds * readings))
  }
  return Math.round(best * 10) / 10
}

const named = {
  make: (n: number): void => {
    const { pm25, pm10, co2, temperature, humidity } = some[n]!
    const made: Named = { pm25, pm10, co2, temperature, humidity }
    sink += made.pm25 ?? 0
  },
  'state row': (n: number): void => {
    const at = n * width
    const reading = some[n]!
    rows[at] = reading.pm25 ?? none
    rows[at + 1] = reading.pm10 ?? none
    rows[at + 2] = reading.co2 ?? none
    rows[at + 3] = reading.temperature ?? none
    rows[at + 4] = reading.humidity ?? none
  },
  same: (n: number): void => {
    const [a, b] = [some[n]!, otherNamed[n]!]
    const isSame =
      a.pm25 === b.pm25 &&
      a.pm10 === b.pm10 &&
      a.co2 === b.co2 &&
      a.temperature === b.temperature &&
      a.humidity === b.humidity
    sink += isSame ? 1 : 0
  },
}

const listed = {
  make: (n: number): void => {
    const made = trimmed([...lists[n]!])
    sink += made[0] ?? 0
  },
  'state row': (n: number): void => {
    const at = n * width + 7
    const values = lists[n]!
    const { length } = values
    for (let id = 0; id < length; id++) rows[at + id] = values[id] ?? none
    for (let id = length; id < mostValues; id++) rows[at + id] = none
  },
  same: (n: number): void => {
    sink += sameValues(lists[n]!, others[n]!) ? 1 : 0
  },
}

const steps = ['make', 'state row', 'same'] as const
const result = Object.fromEntries(
  steps.map((step) => [step, { named: nsOf(named[step]), list: nsOf(listed[step]) }]),
)
const judge = nsOf((n) => void (sink += judgeValues(lists[n]!, { timeAssigned: false }).flags))
const one = nsOf((n) => void (sink += lists[n]![quantityIds.humidity] ?? 0))
console.log(
  JSON.stringify(
    { quantities: quantityNames.length, nsPerReading: { ...result, judge, 'one by name': one } },
    null,
    2,
  ),
)
if (Number.isNaN(sink)) throw new Error('a value is not a number')
