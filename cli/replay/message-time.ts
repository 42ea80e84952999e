/** The times in a whole message: read for its turn, and moved without touching anything else. */
import { formatIso, parseIso } from '../../core/iso-time.ts'

/** Of its latest reading, so that no reading is sent early; undefined where no time can be read. */
export function latestTime(items: readonly unknown[]): number | undefined {
  let latestMs: number | undefined
  for (const item of items) {
    if (typeof item !== 'object' || item === null || !('timestamp' in item)) continue
    const timeMs = typeof item.timestamp === 'string' ? timeOf(item.timestamp) : undefined
    if (timeMs !== undefined && timeMs > (latestMs ?? Number.NEGATIVE_INFINITY)) latestMs = timeMs
  }
  return latestMs
}

/** Without an offset a time cannot be known: the pipeline refuses it. */
function timeOf(timestamp: string): number | undefined {
  const verdict = parseIso(timestamp)
  return 'timeMs' in verdict ? verdict.timeMs : undefined
}

/**
 * The message with its times moved. What cannot be read as a time stays as it is, and so does every
 * other letter: parsed and written again, `45.30` or a name given twice would be another message.
 */
export const shiftMessage = (message: string, shiftMs: number): string =>
  shiftMs === 0
    ? message
    : message.replace(
        /("timestamp"\s*:\s*")([^"\\]*)(?=")/g,
        (whole, before: string, time: string) => {
          const timeMs = timeOf(time)
          return timeMs === undefined ? whole : `${before}${formatIso(timeMs + shiftMs)}`
        },
      )
