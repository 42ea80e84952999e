import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startOfStep, stepStarts, timeZoneOf, utc } from '../../core/local-time.ts'
import { dayMs } from '../../core/time.ts'
import { startOfDay } from '../../dashboard/web/parts/time/local-clock.ts'

test('a browser’s days begin where those of the API do', () => {
  const zones = ['UTC', 'Africa/Lagos', 'America/New_York', 'America/Sao_Paulo', 'Asia/Kathmandu']
  const more = ['Asia/Kolkata', 'Australia/Lord_Howe', 'Europe/London', 'Pacific/Chatham']
  fc.assert(
    fc.property(
      fc.constantFrom(...zones, ...more),
      fc.integer({ min: Date.UTC(2006, 0), max: Date.UTC(2031, 0) }),
      (zone, timeMs) => {
        const known = timeZoneOf(zone) ?? utc
        expect(startOfDay(timeMs, zone)).toBe(startOfStep(timeMs, 'day', known))
        const [, , next] = stepStarts({ fromMs: timeMs, toMs: timeMs + 9 * dayMs }, 'day', known, 3)
        expect(startOfDay(timeMs, zone, 2)).toBe(next)
      },
    ),
    { numRuns: 300 },
  )
})
