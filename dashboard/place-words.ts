/** How the air is at a place, in words: the same sentences on pages and in all that is handed on. */
import type { UsCategory } from '../core/air/index/us-bands.ts'
import { floorTo, hourMs } from '../core/time.ts'
import type { PlaceNow } from './place-now.ts'
import type { CityTexts } from './texts/en/city.ts'
import type { Formats } from './texts/format.ts'
import { localeOf } from './texts/languages.ts'

export type PlaceTexts = {
  readonly city: CityTexts
  readonly categories: Readonly<Record<UsCategory, string>>
  readonly format: Formats
}

export type PlaceWords = {
  /** `Lagos`, or the address of a sensor. */
  readonly name: string
  /** `141`; a dash without an index. */
  readonly number: string
  /** The category, or why there is none. */
  readonly verdict: string
  readonly basis: string
  /** What to do, or why nothing is known. */
  readonly advice: string
  /** `2.3 × WHO guideline` */
  readonly times: string | undefined
  /** What that is of. */
  readonly mean: string | undefined
  /** `14:05, West Africa Time`: when the numbers were made. */
  readonly time: string
  /** Whether a sensor is online, or how many of an area are. */
  readonly state: string
  /** Of a place from which nothing arrives: what was measured last, and when. */
  readonly last: string | undefined
  /** Mean, pollutant and what the values are: one sentence each. */
  readonly facts: readonly string[]
}

const short = { pm25: 'PM2.5', pm10: 'PM10' } as const

export function placeWords(place: PlaceNow, texts: PlaceTexts): PlaceWords {
  const { city, categories } = texts
  const { air, day } = place
  const ofDay = day === null ? { times: undefined, mean: undefined } : dayWords(day, texts)
  return {
    name: place.name,
    number: air === null ? '–' : String(air.aqi),
    verdict: air === null ? noneOf(place, city) : categories[air.category],
    basis: air === null ? '' : `${city.index} · ${city.basis[air.basis]}`,
    advice: air === null ? whyNone(place, texts) : city.advice[air.category],
    ...ofDay,
    time: timeIn(place.timezone, Date.parse(place.made_at), texts),
    state: stateOf(place, texts),
    last: lastOf(place, texts),
    facts: [
      usualOf(place, texts),
      ofDay.mean,
      air?.pollutant == null ? undefined : city.mainPollutant(short[air.pollutant]),
      air === null ? undefined : city.measured,
    ].filter((fact) => fact !== undefined),
  }
}

const noneOf = ({ kind, silence }: PlaceNow, city: CityTexts): string =>
  kind !== 'sensor' && silence?.kind === 'outage' ? city.silent : city.none

function whyNone({ kind, silence, timezone }: PlaceNow, texts: PlaceTexts): string {
  const { city, format } = texts
  if (silence === null) return city.noneWhy
  const { at, silent, of, place = '' } = silence
  const time = at === null ? undefined : dateTimeIn(timezone, Date.parse(at), texts)
  const why = city.silence
  switch (silence.kind) {
    case 'outage':
      if (kind !== 'sensor') return why.here(time ?? '')
      return time === undefined
        ? why.most(format.number(silent ?? 0), format.number(of ?? 0), place)
        : why.all(place, time)
    case 'never':
      return kind === 'sensor' ? why.never : why.neverHere
    case 'restarted':
      return why.restarted(time ?? '')
    case 'not_accepted':
      return why.notAccepted(time)
    default:
      return why[silence.kind]
  }
}

/** Smaller differences, as a part and in points of the index, are as usual. */
const unusual = { part: 0.25, points: 10 }

function usualOf(place: PlaceNow, { city, format }: PlaceTexts): string | undefined {
  const { air, usual, usual_from: from, timezone, made_at: madeAt } = place
  if (air === null) return undefined
  if (usual === null) {
    // undefined: kept for offline by a former version
    if (from == null) return undefined
    return city.usual.from(
      format.date(Date.parse(from), { day: 'numeric', month: 'short' }, timezone),
    )
  }
  const more = air.aqi - usual.aqi
  const isUsual = Math.abs(more) < Math.max(unusual.points, unusual.part * usual.aqi)
  const atMs = Date.parse(madeAt)
  const day = format.date(atMs, { weekday: 'long' }, timezone)
  const hour = format.date(floorTo(atMs, hourMs), { hour: '2-digit', minute: '2-digit' }, timezone)
  return city.usual[isUsual ? 'same' : more > 0 ? 'worse' : 'better'](
    city.usual.than(day, hour, format.number(usual.aqi), usual.weeks),
  )
}

/** A mean of this many hours or more is called one of the day. */
const wholeDayHours = 18

function dayWords(day: NonNullable<PlaceNow['day']>, { city, format }: PlaceTexts) {
  const times = Math.round(day.timesGuideline * 10) / 10
  const pollutant = short[day.pollutant]
  const amount = format.number(day.ugM3, 1, { fixed: true })
  const mean =
    day.hours >= wholeDayHours
      ? city.dayMean(pollutant, amount)
      : city.hoursMean(pollutant, day.hours, amount)
  return {
    times: times <= 1 ? city.withinWho : city.timesWho(format.number(times, times < 10 ? 1 : 0)),
    mean: `${mean} (${city.guideline(format.number(day.guideline))})`,
  }
}

/** `14:05, West Africa Time`: the zone is always named. */
export function timeIn(timeZone: string, ms: number, { city, format }: PlaceTexts): string {
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  const time = format.date(ms, clock, timeZone)
  return city.localTime(time, zoneName(timeZone, ms, format))
}

/** `West Africa Time`, in the language's own words. */
function zoneName(timeZone: string, ms: number, { language }: Formats): string {
  const parts = new Intl.DateTimeFormat(localeOf[language], { timeZone, timeZoneName: 'long' })
  return parts.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
}

/** The same with its day. */
export function dateTimeIn(timeZone: string, ms: number, texts: PlaceTexts): string {
  const day = { day: 'numeric', month: 'short', year: 'numeric' } as const
  return `${texts.format.date(ms, day, timeZone)}, ${timeIn(timeZone, ms, texts)}`
}

function stateOf(place: PlaceNow, texts: PlaceTexts): string {
  const { city, format } = texts
  if (place.kind !== 'sensor') {
    return city.sensorsOnline(
      format.number(place.sensors.reporting),
      format.number(place.sensors.total),
    )
  }
  if (place.isRetired) return city.retired
  if (place.last_reading === null) return city.neverRead
  return place.silence === null ? city.online : city.offline
}

function lastOf(place: PlaceNow, texts: PlaceTexts): string | undefined {
  const { silence, last_reading: last, last_index: index, timezone } = place
  if (silence === null || last === null) return undefined
  const { city, categories, format } = texts
  const time = dateTimeIn(timezone, Date.parse(last), texts)
  if (index === null) return city.lastReading(time)
  return city.lastMeasured(time, format.number(index.aqi), categories[index.category])
}

/**
 * Without characters that turn the direction of text, or that a terminal would obey; in its own
 * direction, so that what follows a name is not turned with it.
 */
export const plainName = (name: string): string => {
  const text = name
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
  return /\p{Script=Arabic}|\p{Script=Hebrew}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}/u.test(
    text,
  )
    ? `\u2068${text}\u2069`
    : text
}

/** At most this many characters as people count them, with an ellipsis if there were more. */
export function shortened(text: string, most: number): string {
  const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
  return letters.length <= most
    ? text
    : `${letters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
}
