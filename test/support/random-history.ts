/** Arbitrary days in the life of a small worker, for properties about its log. */
import { type Arbitrary, array, constantFrom, integer, oneof, option, record } from 'fast-check'
import { maskOf } from '../../core/air/quality.ts'
import { hourMs, minuteMs, secondMs } from '../../core/time.ts'
import {
  readingOf,
  type SmallWorker,
  sensorNamed,
  smallWorker,
  type Unnumbered,
} from './small-worker.ts'

const startMs = Date.UTC(2026, 2, 1, 10)

type Sent = {
  readonly sensor: number
  readonly ageMs: number
  readonly pm25: number | null
  readonly humidity: number | null
  readonly aqi: number | null
  readonly area: string
  readonly flags: number
}

type Step =
  | { readonly what: 'batch'; readonly passedMs: number; readonly sent: readonly Sent[] }
  | { readonly what: 'tick'; readonly passedMs: number; readonly verdict: 'report' | 'hold' }
  | { readonly what: 'late'; readonly passedMs: number }

const passedMs = oneof(
  integer({ min: 0, max: 10 * secondMs }),
  integer({ min: 0, max: 20 * minuteMs }),
  constantFrom(0, 5 * minuteMs, 15 * minuteMs, 26 * hourMs),
)

/** Mostly fresh; also back-filled by hours or a year, repeated, and from clocks that run ahead. */
const ageMs = oneof(
  integer({ min: -5 * minuteMs, max: minuteMs }),
  constantFrom(0, 5 * minuteMs, 10 * minuteMs, 30 * minuteMs, 30 * minuteMs + 1),
  integer({ min: 0, max: 30 * hourMs }),
  constantFrom(365 * 24 * hourMs),
)

const sent: Arbitrary<Sent> = record({
  sensor: integer({ min: 1, max: 6 }),
  ageMs,
  pm25: option(integer({ min: 0, max: 100_000 })),
  humidity: option(constantFrom(0, 7_000, 9_990)),
  aqi: option(integer({ min: 0, max: 500 })),
  area: constantFrom('Ikeja', 'Lekki Phase 1', 'Ọ̀ṣọ́di'),
  flags: constantFrom(0, 0, 0, maskOf('pm_high'), maskOf('pm_saturated')),
})

const step: Arbitrary<Step> = oneof(
  record({
    what: constantFrom('batch' as const),
    passedMs,
    sent: array(sent, { minLength: 1, maxLength: 8 }),
  }),
  record({
    what: constantFrom('tick' as const),
    passedMs,
    verdict: constantFrom('report' as const, 'hold' as const),
  }),
  record({ what: constantFrom('late' as const), passedMs }),
)

export const histories: Arbitrary<readonly Step[]> = array(step, { minLength: 1, maxLength: 30 })

/** A worker after the history; it was listening all the time. */
export function lived(history: readonly Step[]): SmallWorker {
  const worker = smallWorker(3)
  let nowMs = startMs
  for (const moment of history) {
    nowMs += moment.passedMs
    const listenedMs = nowMs - startMs
    switch (moment.what) {
      case 'batch':
        worker.take(
          moment.sent.map((one) => arrived(one, nowMs)),
          listenedMs,
        )
        break
      case 'tick':
        worker.tick(listenedMs, nowMs, moment.verdict)
        break
      case 'late':
        worker.judgeLate()
        break
    }
  }
  return worker
}

const arrived = ({ sensor, ageMs: age, ...values }: Sent, nowMs: number): Unnumbered =>
  readingOf(nowMs - age, { sensor: sensorNamed(sensor), arrivedMs: nowMs, ...values })
