/** What the city page knows of a sensor, and how news changes it. */
import { texts } from '../../texts.ts'

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

export const { orders } = texts.city
export type Order = keyof typeof orders

type ValueFor = (sensor: CitySensor) => number | null

/** An offline sensor has no present index, and is listed after those that have one. */
const indexNow: ValueFor = ({ isOnline, aqi }) => (isOnline ? aqi : null)

const byId = (a: CitySensor, b: CitySensor): number => (a.id < b.id ? -1 : 1)

/** Lower is earlier in the list. */
function rankOf(sensor: CitySensor, order: Order, valueFor: ValueFor): number {
  if (order === 'id') return 0
  if (order === 'silent') return sensor.lastMs ?? 0
  const value = valueFor(sensor)
  if (value === null) return Number.POSITIVE_INFINITY
  return order === 'worst' ? -value : value
}

type Wanted = {
  /** Of the id or the address, in any case; '' for all. */
  readonly search: string
  /** A name; '' for all. */
  readonly area: string
  readonly order: Order
  /** What worst and best mean; the index of the last reading unless given. */
  readonly valueFor?: ValueFor | undefined
}

/** The matching sensors. */
export function matching(
  sensors: Iterable<CitySensor>,
  { search, area }: Pick<Wanted, 'search' | 'area'>,
): CitySensor[] {
  const words = search.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ id, address }: CitySensor): boolean => {
    const text = `${id} ${address}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return [...sensors].filter(
    (sensor) => (area === '' || sensor.area === area) && (words.length === 0 || fits(sensor)),
  )
}

type Ordered = Pick<Wanted, 'order' | 'valueFor'> & { readonly most: number }

/** The first `most` of them in order, without putting all of a large city in order. */
export function firstOf(
  sensors: readonly CitySensor[],
  { order, valueFor = indexNow, most }: Ordered,
): CitySensor[] {
  type Ranked = { readonly sensor: CitySensor; readonly rank: number }
  const isBefore = (a: Ranked, b: Ranked): boolean =>
    a.rank < b.rank || (a.rank === b.rank && byId(a.sensor, b.sensor) < 0)
  const first: Ranked[] = []
  for (const sensor of sensors) {
    const ranked = { sensor, rank: rankOf(sensor, order, valueFor) }
    const last = first.at(-1)
    if (first.length >= most && (last === undefined || !isBefore(ranked, last))) continue
    let [low, high] = [0, first.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(ranked, first[middle]!)) high = middle
      else low = middle + 1
    }
    first.splice(low, 0, ranked)
    if (first.length > most) first.pop()
  }
  return first.map(({ sensor }) => sensor)
}
