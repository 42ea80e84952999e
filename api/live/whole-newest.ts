import type { Reading } from '../../core/air/reading.ts'
import type { Asker } from '../http/answer.ts'
import type { QueryStore } from '../http/query-store.ts'
import type { NewestReadings } from './newest-readings.ts'
import { type Entry, newestReading } from './sensor-now.ts'

type Sources = { readonly newest: NewestReadings; readonly queryStore: QueryStore }

/**
 * The newest reading of a sensor as it was accepted. The state that `newestReading` reads has neither
 * the version of its leaf nor what its device signed, so no hash follows from it: memory has the
 * reading of any sensor that was heard lately, and the store all others.
 * @throws ApiError 503
 */
export async function wholeNewest(
  entry: Entry,
  asker: Asker,
  { newest, queryStore }: Sources,
): Promise<Reading | undefined> {
  const reading = newestReading(entry)
  if (reading === undefined) return undefined
  const { sensor, timeMs } = reading
  const [accepted] = newest.page({ sensor, fromMs: timeMs, toMs: timeMs + 1, limit: 1 }) ?? []
  if (accepted !== undefined) return accepted
  const at = await queryStore(asker, (store, signal) => store.within(signal).at(sensor, timeMs))
  // accepted a moment ago, and not stored yet
  return at ?? reading
}
