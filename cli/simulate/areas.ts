/** Parts of a city: where they are, and how their air differs. The streets are invented. */
import type { Box } from '../../core/map-box.ts'

export type CityArea = {
  readonly code: string
  readonly name: string
  readonly lat: number
  readonly lon: number
  /** How far sensors are from there, in degrees. */
  readonly spread: number
  /** How much the rush hours add, 1 for an ordinary area. */
  readonly traffic: number
  /** How much its industry, generators and waste fires add all day. */
  readonly smoke: number
  readonly streets: readonly string[]
}

/**
 * Those of Lagos, or in another city as many with invented names, at the same places of its box.
 * @param box what the network's map shows; undefined: Lagos
 */
export function areasIn(box: Box | undefined): readonly CityArea[] {
  if (box === undefined) return lagosAreas
  const [west, south, east, north] = box
  const [lagosWest, lagosSouth, lagosEast, lagosNorth] = lagosBox
  return lagosAreas.map((area, at) => {
    const [code, name] = invented[at] ?? [area.code, area.name]
    const across = (area.lon - lagosWest) / (lagosEast - lagosWest)
    const up = (area.lat - lagosSouth) / (lagosNorth - lagosSouth)
    const lon = west + across * (east - west)
    const lat = south + up * (north - south)
    const spread = Math.min(area.spread, (east - west) / 20, (north - south) / 20)
    return { ...area, code, name, lat, lon, spread }
  })
}

/** Around the areas below. */
const lagosBox: Box = [3.23, 6.38, 3.56, 6.67]

const invented = [
  ['CEN', 'Centre'],
  ['COL', 'College Hill'],
  ['LAK', 'Lakeside'],
  ['STA', 'Stadium'],
  ['POR', 'Port'],
  ['RIV', 'Riverside'],
  ['MIL', 'Sawmill'],
  ['FES', 'Festival Park'],
  ['JUN', 'Junction'],
  ['MAR', 'Market'],
] as const

const lagosAreas: readonly CityArea[] = [
  {
    code: 'IKJ',
    name: 'Ikeja',
    lat: 6.6018,
    lon: 3.3515,
    spread: 0.018,
    traffic: 1.3,
    smoke: 1,
    streets: ['Palm Avenue', 'Unity Close', 'Station Road', 'Old Market Street'],
  },
  {
    code: 'YAB',
    name: 'Yaba',
    lat: 6.5095,
    lon: 3.3711,
    spread: 0.01,
    traffic: 1.4,
    smoke: 0.9,
    streets: ['College Road', 'Printers Lane', 'Harmony Street', 'Railway Line'],
  },
  {
    code: 'LEK',
    name: 'Lekki',
    lat: 6.4433,
    lon: 3.4803,
    spread: 0.022,
    traffic: 1.1,
    smoke: 0.6,
    streets: ['Coconut Drive', 'Lagoon View', 'Roundabout Crescent', 'Seabreeze Close'],
  },
  {
    code: 'SUR',
    name: 'Surulere',
    lat: 6.4969,
    lon: 3.3565,
    spread: 0.012,
    traffic: 1.2,
    smoke: 0.9,
    streets: ['Stadium Street', 'Masquerade Road', 'Tailors Lane', 'Peace Avenue'],
  },
  {
    code: 'APA',
    name: 'Apapa',
    lat: 6.4489,
    lon: 3.3644,
    spread: 0.012,
    traffic: 1.8,
    smoke: 1.5,
    streets: ['Quay Road', 'Truckers Park', 'Warehouse Street', 'Harbour Lane'],
  },
  {
    code: 'VIC',
    name: 'Victoria Island',
    lat: 6.4281,
    lon: 3.4219,
    spread: 0.012,
    traffic: 1.2,
    smoke: 0.6,
    streets: ['Ocean Boulevard', 'Embassy Close', 'Bankers Row', 'Kite Street'],
  },
  {
    code: 'IKD',
    name: 'Ikorodu',
    lat: 6.6194,
    lon: 3.5105,
    spread: 0.02,
    traffic: 0.9,
    smoke: 1.3,
    streets: ['Ferry Road', 'Sawmill Street', 'Cassava Market', 'Hilltop Close'],
  },
  {
    code: 'FES',
    name: 'Festac',
    lat: 6.4664,
    lon: 3.2836,
    spread: 0.012,
    traffic: 1,
    smoke: 0.8,
    streets: ['First Festival Avenue', 'Drummers Close', 'Canal Side', 'Gallery Road'],
  },
  {
    code: 'OSH',
    name: 'Oshodi',
    lat: 6.5549,
    lon: 3.3433,
    spread: 0.01,
    traffic: 1.9,
    smoke: 1.2,
    streets: ['Interchange Road', 'Flyover Lane', 'Hawkers Row', 'Bus Park Street'],
  },
  {
    code: 'AGE',
    name: 'Agege',
    lat: 6.6156,
    lon: 3.3239,
    spread: 0.012,
    traffic: 1.2,
    smoke: 1.2,
    streets: ['Bakery Road', 'Abattoir Lane', 'Pen Street', 'Dairy Close'],
  },
]
