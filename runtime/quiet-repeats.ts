/**
 * A process that cannot reach its server would log the same line again and again. Of equal lines,
 * the first few of a period are shown, and the next one shown carries the number of those that
 * were not.
 */
import { BoundedMap } from '../core/bounded-map.ts'
import { secondMs } from '../core/time.ts'

export type Repeats = {
  /** @returns how many equal lines were held back since the last one shown; undefined: hold this one back too */
  readonly show: (what: string, nowMs: number) => number | undefined
}

type Options = { readonly most?: number; readonly withinMs?: number }

/** How many different lines are remembered. */
const mostKinds = 200

export function quietRepeats({ most = 3, withinMs = 30 * secondMs }: Options = {}): Repeats {
  const kinds = new BoundedMap<string, { sinceMs: number; shown: number; heldBack: number }>(
    mostKinds,
  )
  return {
    show: (what, nowMs) => {
      const period = kinds.get(what)
      if (period === undefined || nowMs - period.sinceMs >= withinMs) {
        kinds.set(what, { sinceMs: nowMs, shown: 1, heldBack: 0 })
        return period?.heldBack ?? 0
      }
      if (period.shown === most) {
        period.heldBack++
        return undefined
      }
      period.shown++
      return 0
    },
  }
}
