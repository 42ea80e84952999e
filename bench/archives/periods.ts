/** The periods that areas are requested for, made from the time an archive covers. */
export type AskedPeriod = {
  readonly fromMs: number
  readonly toMs: number
  readonly interval?: 'hour' | 'day'
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const down = (timeMs: number, stepMs: number): number => timeMs - (timeMs % stepMs)

/**
 * Whole, by months, ragged at both ends, within an hour, over midnight, empty.
 * @param times of the readings, oldest first, at least one
 */
export function periodsOf(times: readonly number[]): readonly AskedPeriod[] {
  const [firstMs = 0, lastMs = 0] = [times[0], times.at(-1)]
  const whole = { fromMs: down(firstMs, dayMs), toMs: down(lastMs, dayMs) + dayMs }
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? firstMs
  // ends that fall on no boundary, nor on the ms of a reading
  const week = { fromMs: at(0.4) - 1_801_123, toMs: at(0.4) + 7 * dayMs + 3 * hourMs + 17_077 }
  const day = { fromMs: at(0.6) - 11 * hourMs - 7, toMs: at(0.6) + 13 * hourMs - 7 }
  return [
    { ...whole, interval: 'day' },
    whole,
    { fromMs: firstMs, toMs: lastMs },
    ...monthsOf(whole),
    { ...week, interval: 'hour' },
    { ...week, interval: 'day' },
    { ...day, interval: 'hour' },
    { fromMs: day.fromMs, toMs: day.toMs + 1, interval: 'day' },
    { fromMs: down(at(0.8), dayMs), toMs: down(at(0.8), dayMs) + dayMs, interval: 'hour' },
    { fromMs: at(0.2), toMs: at(0.2) + 600_001 },
    { fromMs: at(0.5), toMs: at(0.5) + 1, interval: 'hour' },
    { fromMs: whole.fromMs - 3 * dayMs, toMs: whole.fromMs, interval: 'hour' },
  ]
}

function monthsOf({ fromMs, toMs }: { fromMs: number; toMs: number }): AskedPeriod[] {
  const months: AskedPeriod[] = []
  const start = new Date(fromMs)
  for (let month = start.getUTCMonth(); ; month++) {
    const from = Date.UTC(start.getUTCFullYear(), month)
    if (from >= toMs) return months
    months.push({
      fromMs: from,
      toMs: Date.UTC(start.getUTCFullYear(), month + 1),
      interval: 'hour',
    })
  }
}
