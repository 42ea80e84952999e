/**
 * How the air is at a place: made once by the server, and the same in pages, embeds, badges,
 * pictures and text.
 */
import type { Pollutant } from '../core/air/index/air-index.ts'
import type { UsCategory } from '../core/air/index/us-bands.ts'
import type { PublicReason } from '../core/state/why-silent.ts'

export type PlaceNow = {
  readonly kind: 'city' | 'area' | 'sensor'
  /** A sensor's id, else the slug of the area or of the network. */
  readonly id: string
  /** Of the network or the area; a sensor's is its address, or its id if it has none. */
  readonly name: string
  /** The area of a sensor. */
  readonly area: { readonly name: string; readonly slug: string } | null
  /** `reporting`: sent within three of their intervals. */
  readonly sensors: {
    readonly total: number
    readonly reporting: number
    readonly never_reported: number
  }
  /** Only a sensor is retired. */
  readonly isRetired: boolean
  /** Why nothing arrives from here; null: something does. Then there is no air of now, and no advice. */
  readonly silence: SilenceNow | null
  readonly air: AirNow | null
  /** The mean of the last 24 hours against WHO's guideline; null without readings. */
  readonly day: DayMean | null
  /** What is usual at this hour of the week; null where too little is known, and without air. */
  readonly usual: UsualNow | null
  /** When enough for that is known, if every reading arrives until then; null: it is, or cannot be told. */
  readonly usual_from: string | null
  /** When the newest reading was measured. */
  readonly last_reading: string | null
  /** The index of a sensor's newest reading. */
  readonly last_index: { readonly aqi: number; readonly category: UsCategory } | null
  /** IANA name of the network's zone. */
  readonly timezone: string
  readonly made_at: string
}

export type SilenceNow = {
  readonly kind: PublicReason['kind']
  /** Since when, or when it was tried last. */
  readonly at: string | null
  /** Of an outage: of how many sensors of which place. */
  readonly silent?: number
  readonly of?: number
  readonly place?: string
}

export type AirNow = {
  /** US EPA's, of measured values as they are, without a correction. */
  readonly aqi: number
  readonly category: UsCategory
  /** `nowcast`: EPA's, over 12 hours. `ten_minutes`: the mean of that time, where hours are too few. */
  readonly basis: 'nowcast' | 'ten_minutes'
  readonly pollutant: Pollutant | null
}

export type UsualNow = {
  /** The mean index of that hour of the week. */
  readonly aqi: number
  /** Of that number of weeks. */
  readonly weeks: number
}

export type DayMean = {
  /** The one that is further above its guideline. */
  readonly pollutant: Pollutant
  readonly ugM3: number
  /** How many times WHO's guideline for 24 hours. */
  readonly timesGuideline: number
  readonly guideline: number
  /** How many of the 24 hours have readings. */
  readonly hours: number
}
