/**
 * A process that cannot reach its server says so again and again. Of lines that say the same, the
 * first few of a while are shown, and the next one shown tells how many were not.
 */
import { remember } from '../core/remember.ts'
import { secondMs } from '../core/time.ts'

export type Repeats = {
  /** @returns how many of the same were kept back since the last one shown; undefined: so is this */
  readonly show: (what: string, nowMs: number) => number | undefined
}

type Options = { readonly most?: number; readonly withinMs?: number }

/** Different things that are remembered; whoever says more says nothing twice. */
const mostKinds = 200

export function quietRepeats({ most = 3, withinMs = 30 * secondMs }: Options = {}): Repeats {
  const kinds = new Map<string, { sinceMs: number; shown: number; heldBack: number }>()
  return {
    show: (what, nowMs) => {
      const found = kinds.get(what)
      if (found === undefined || nowMs - found.sinceMs >= withinMs) {
        remember(kinds, what, { sinceMs: nowMs, shown: 1, heldBack: 0 }, mostKinds)
        return found?.heldBack ?? 0
      }
      if (found.shown === most) {
        found.heldBack++
        return undefined
      }
      found.shown++
      return 0
    },
  }
}
