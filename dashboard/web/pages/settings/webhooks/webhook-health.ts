/** How well a webhook delivers, from its newest attempts. */
import type { Bar } from '../../../parts/air/bar.ts'
import type { Tried } from './webhook-types.ts'

/** The attempts of an hour or a day. */
export type HealthBar = Pick<Bar, 'parts'> & { readonly fromMs: number }

export type Health = {
  /** Of the newest attempts; cancelled ones say nothing about the receiver. */
  readonly tried: number
  readonly failed: number
  /** `none`: nothing was tried. `failing`: the newest five, or all if there are fewer, failed. */
  readonly state: 'none' | 'ok' | 'some' | 'failing'
  readonly lastSuccess: string | null
  /** Of deliveries that succeeded. */
  readonly medianMs: number | null
  /** Older attempts were not looked at. */
  readonly isCut: boolean
  readonly step: 'hour' | 'day'
  /** Oldest first. */
  readonly bars: readonly HealthBar[]
}

const hourMs = 3_600_000
const steps = { hour: { ms: hourMs, count: 24 }, day: { ms: 24 * hourMs, count: 30 } } as const
/** As many failures in a row stop the deliveries for a while. */
const inARow = 5

const hasFailed = ({ outcome }: Tried): boolean => outcome !== 'delivered'

/** @param attempts newest first */
export function healthOf(
  attempts: readonly Tried[],
  nowMs: number,
  { isCut = false }: { readonly isCut?: boolean } = {},
): Health {
  const tried = attempts.filter(({ outcome }) => outcome !== 'cancelled')
  const failed = tried.filter(hasFailed).length
  const [newest] = tried
  const isRecent = newest !== undefined && nowMs - Date.parse(newest.at) < 24 * hourMs
  const step = newest === undefined || isRecent ? 'hour' : 'day'
  return {
    tried: tried.length,
    failed,
    state: stateOf(tried, failed),
    lastSuccess: tried.find((attempt) => !hasFailed(attempt))?.at ?? null,
    medianMs: medianOf(tried),
    isCut,
    step,
    bars: barsOf(tried, step, nowMs),
  }
}

function stateOf(tried: readonly Tried[], failed: number): Health['state'] {
  if (tried.length === 0) return 'none'
  if (tried.slice(0, inARow).every(hasFailed)) return 'failing'
  return failed > 0 ? 'some' : 'ok'
}

function medianOf(tried: readonly Tried[]): number | null {
  const times = tried
    .flatMap(({ outcome, duration_ms: ms }) => (outcome === 'delivered' && ms !== null ? [ms] : []))
    .toSorted((a, b) => a - b)
  return times[Math.floor(times.length / 2)] ?? null
}

function barsOf(
  tried: readonly Tried[],
  step: Health['step'],
  nowMs: number,
): readonly HealthBar[] {
  const { ms, count } = steps[step]
  const endMs = Math.ceil(nowMs / ms) * ms
  return Array.from({ length: count }, (_, i): HealthBar => {
    const fromMs = endMs - (count - i) * ms
    const own = tried.filter(({ at }) => {
      const atMs = Date.parse(at)
      return atMs >= fromMs && atMs < fromMs + ms
    })
    const failed = own.filter(hasFailed).length
    return {
      parts: [
        { kind: 'ok', count: own.length - failed },
        { kind: 'error', count: failed },
      ],
      fromMs,
    }
  })
}
