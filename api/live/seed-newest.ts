import { newestMsOf } from '../../core/state/state-columns.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import type { Logger } from '../../runtime/log.ts'
import { pause } from '../../runtime/pause.ts'
import { nothingExpired, type Retention } from '../../schemas/retention.ts'
import type { Store } from '../../store/store.ts'
import type { LivePicture } from './live-picture.ts'
import { newestFromStore } from './newest-from-store.ts'
import type { NewestReadings } from './newest-readings.ts'

type Options = {
  readonly store: Pick<Store, 'rangeAll'>
  readonly picture: Pick<LivePicture, 'isLive' | 'states'>
  readonly retention?: () => Retention
  readonly log: Logger
  readonly count?: number
}

const checkMs = 100
const againAfterMs = secondMs
/** A reading may be this far ahead of our clock, and not be in the states yet. */
const aheadMs = 10 * minuteMs

/**
 * Fills `newest` from the store whenever it is not seeded: at the start, when the picture was
 * seeded again, and as soon as a store that was away is back.
 */
export function keepSeeding(
  newest: NewestReadings,
  { store, picture, retention = () => nothingExpired, log, count = 5_000 }: Options,
): AsyncDisposable {
  const stop = new AbortController()

  const seedOnce = async (): Promise<void> => {
    const generation = newest.generation()
    // what is older may be in the archive only, so the store alone is not complete
    const fromMs = retention().rawBeforeMs ?? 0
    const rows = await newestFromStore(store, {
      fromMs,
      toMs: newestKnownMs(picture) + aheadMs,
      limit: count,
    })
    const last = rows.at(-1)
    // fewer than requested: that is all there is, down to the beginning of what the store has
    const floor = rows.length < count || last === undefined ? placeBefore(fromMs) : last
    newest.seed(rows, floor, generation)
  }

  const seeding = (async () => {
    let isLogged = false
    while (!stop.signal.aborted) {
      if (newest.isSeeded() || !picture.isLive()) {
        await pause(checkMs, stop.signal)
        continue
      }
      try {
        await seedOnce()
        isLogged = false
      } catch (error) {
        if (!isLogged) log.warn({ err: error }, 'the newest readings wait for the store')
        isLogged = true
        await pause(againAfterMs, stop.signal)
      }
    }
  })()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await seeding
    },
  }
}

const placeBefore = (timeMs: number) => ({ timeMs: timeMs - 1, sensor: '' })

function newestKnownMs({ states }: Pick<LivePicture, 'states'>): number {
  let newestMs = 0
  for (const state of states()) {
    for (let slot = 0; slot < state.ids.length; slot++) {
      newestMs = Math.max(newestMs, newestMsOf(state, slot))
    }
  }
  return newestMs
}
