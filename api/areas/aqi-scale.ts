import type { AirIndex, Ends } from '../../core/air/index/air-index.ts'
import { airIndices } from '../../core/air/index/indices.ts'
import { units } from '../../core/air/quantities.ts'
import { type Answer, jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { readView } from '../live/view.ts'

/** GET /v1/aqi/scale: the table of an index. */
export function aqiScale(indices: readonly AirIndex[] = airIndices): Route {
  const answers = new Map(indices.map((index) => [index, { ...scaleOf(index), isKept: true }]))
  return {
    path: '/v1/aqi/scale',
    params: ['index'],
    types: [jsonType],
    answer: ({ params }) => {
      const { index } = readView(params, indices)
      return answers.get(index) ?? scaleOf(index)
    },
  }
}

function scaleOf({ title, revision, bands, stepsPerUnit, averagingHours }: AirIndex): Answer {
  // the worst band of some indices has no upper end
  const range = ({ low, high }: Ends, steps: number) => ({
    low: low / steps,
    high: Number.isFinite(high) ? high / steps : null,
  })
  return jsonAnswer({
    status: 'success',
    name: title,
    revision,
    averaging_hours: averagingHours,
    highest: bands.at(-1)?.aqi.high,
    categories: bands.map(({ category, aqi, pm25, pm10, color, colorVision }) => ({
      category,
      aqi,
      pm25: { ...range(pm25, stepsPerUnit.pm25), unit: units.pm25 },
      pm10: { ...range(pm10, stepsPerUnit.pm10), unit: units.pm10 },
      color,
      color_vision: colorVision,
    })),
  })
}
