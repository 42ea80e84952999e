import { maxRawItems } from '../../schemas/log/raw-reading.ts'
import type { Draw } from './chance.ts'
import type { CitySensor } from './city.ts'
import type { RawMessage } from './dirt.ts'
import { measure } from './measure.ts'
import { rawReading } from './raw-reading.ts'

type Span = {
  readonly fromMs: number
  readonly toMs: number
  /** The sensor's own: with another cadence the areas would seem to lack readings. */
  readonly cadenceMs: number
  readonly draw: Draw
}

/** What a sensor measured in [from, to), as messages of up to 500 readings. */
export function* backFill(
  sensor: CitySensor,
  { fromMs, toMs, cadenceMs, draw }: Span,
): Generator<RawMessage, void, undefined> {
  let items: string[] = []
  for (let timeMs = fromMs; timeMs < toMs; timeMs += cadenceMs) {
    items.push(rawReading(sensor, timeMs, measure(sensor, timeMs, draw)))
    if (items.length < maxRawItems) continue
    yield { sensor: sensor.id, body: `[${items.join(',')}]` }
    items = []
  }
  if (items.length > 0) yield { sensor: sensor.id, body: `[${items.join(',')}]` }
}
