/** All sources: each has a row in `core/delivery/event-kinds.ts` and a module. */
import { anchoredSource } from './anchored.ts'
import { eventsSource } from './events.ts'
import { openLogReadings } from './log-readings.ts'
import { readingsSource } from './readings.ts'
import type { SourceContext, Sources } from './source.ts'

export function openSources(context: SourceContext): Sources {
  const readings = openLogReadings(context.nc)
  return {
    events: eventsSource(context),
    readings: readingsSource(context, readings),
    anchored: anchoredSource(context, readings),
  }
}
