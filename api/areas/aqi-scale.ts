import { aqiBands } from '../../core/air/aqi.ts'
import { units } from '../../core/air/quantities.ts'
import { constant, jsonAnswer, jsonType, type Route } from '../http/answer.ts'

type Ends = { readonly low: number; readonly high: number }
const range = ({ low, high }: Ends, steps: number) => ({ low: low / steps, high: high / steps })

/** GET /v1/aqi/scale: the table every index of ours is made with. */
export function aqiScale(): Route {
  const answer = constant(
    jsonAnswer({
      status: 'success',
      name: 'US EPA AQI',
      revision: '2024-05-06',
      highest: aqiBands.at(-1)?.aqi.high,
      categories: aqiBands.map(({ category, aqi, pm25, pm10, color, colorVision }) => ({
        category,
        aqi,
        pm25: { ...range(pm25, 10), unit: units.pm25 },
        pm10: { ...range(pm10, 1), unit: units.pm10 },
        color,
        color_vision: colorVision,
      })),
    }),
  )
  return { path: '/v1/aqi/scale', params: [], types: [jsonType], answer: () => answer }
}
