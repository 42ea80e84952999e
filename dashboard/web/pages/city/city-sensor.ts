/** What the city page knows of a sensor, and how news changes it. */

export type CitySensor = {
  readonly id: string
  readonly area: string
  readonly lat: number
  readonly lon: number
  readonly address: string
  readonly isOnline: boolean
  /** Time of the newest reading, null without one. */
  readonly lastMs: number | null
  readonly aqi: number | null
}

/** As `/v1/sensors` lists it. */
export type ListedSensor = {
  readonly id: string
  readonly area: string
  readonly location: { readonly lat: number; readonly lon: number; readonly address: string }
  readonly status: 'online' | 'offline'
  readonly last_reading: string | null
  readonly aqi: number | null
}

/** As `/v1/stream` sends it. */
export type News =
  | {
      readonly kind: 'reading'
      readonly sensor: string
      readonly timeMs: number
      readonly aqi: number | null
    }
  | { readonly kind: 'online' | 'offline'; readonly sensor: string }

export const fromListed = ({ location, ...listed }: ListedSensor): CitySensor => ({
  id: listed.id,
  area: listed.area,
  ...location,
  isOnline: listed.status === 'online',
  lastMs: listed.last_reading === null ? null : Date.parse(listed.last_reading),
  aqi: listed.aqi,
})

/** The sensor after the news; the same object where nothing is new. */
export function afterNews(sensor: CitySensor, news: News): CitySensor {
  switch (news.kind) {
    case 'online':
      return sensor.isOnline ? sensor : { ...sensor, isOnline: true }
    case 'offline':
      return sensor.isOnline ? { ...sensor, isOnline: false } : sensor
    case 'reading':
      if (sensor.lastMs !== null && news.timeMs <= sensor.lastMs) return sensor
      return { ...sensor, lastMs: news.timeMs, aqi: news.aqi }
  }
}

export const orders = {
  worst: 'Worst air first',
  best: 'Best air first',
  id: 'By id',
  silent: 'Longest silent first',
} as const
export type Order = keyof typeof orders

/** An offline sensor has no present index, and is listed after those that have one. */
const indexNow = ({ isOnline, aqi }: CitySensor): number | null => (isOnline ? aqi : null)

const byId = (a: CitySensor, b: CitySensor): number => (a.id < b.id ? -1 : 1)

function compare(order: Order, a: CitySensor, b: CitySensor): number {
  if (order === 'id') return byId(a, b)
  if (order === 'silent') return (a.lastMs ?? 0) - (b.lastMs ?? 0) || byId(a, b)
  const [left, right] = [indexNow(a), indexNow(b)]
  if (left === null || right === null)
    return Number(left === null) - Number(right === null) || byId(a, b)
  return (order === 'worst' ? right - left : left - right) || byId(a, b)
}

type Wanted = {
  /** Of the id or the address, in any case; '' for all. */
  readonly search: string
  /** A name; '' for all. */
  readonly area: string
  readonly order: Order
}

/** The matching sensors, in order. */
export function choose(
  sensors: Iterable<CitySensor>,
  { search, area, order }: Wanted,
): CitySensor[] {
  const words = search.trim().toLowerCase().split(/\s+/)
  const fits = ({ id, address }: CitySensor): boolean => {
    const text = `${id} ${address}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return [...sensors]
    .filter((sensor) => (area === '' || sensor.area === area) && fits(sensor))
    .toSorted((a, b) => compare(order, a, b))
}
