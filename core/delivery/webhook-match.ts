/**
 * Which webhooks does an event concern? The index has a bucket for every sensor and area that a
 * filter names and one for webhooks without either, so the cost of an event grows with its
 * candidates and not with the number of webhooks. A bucket holds webhooks by what they wait for: a
 * threshold 0…499 of `aqi.high`, or a code of another kind.
 */

import { slugOf } from '../air/area.ts'
import { type QualityLevel, qualityLevels } from '../air/quality-level.ts'
import { type EventKind, ledgerNumberOf, type SourceName, sourceOf } from './delivery.ts'
import type { WebhookNumber } from './webhook-id.ts'

/** What a webhook waits for, as the index needs it. */
export type Subscription = {
  readonly number: WebhookNumber
  readonly events: readonly EventKind[]
  readonly sensor: string | undefined
  /** Name or slug, any case. */
  readonly area: string | undefined
  /** Of `aqi.high`; fractions are floored, since an index is whole. */
  readonly threshold: number
  /** Events about a reading only if that is at least so good; undefined: about every reading. */
  readonly minQuality?: QualityLevel | undefined
}

export type Matched = (webhook: WebhookNumber, kind: EventKind, detail: number) => void

export type WebhookIndex = {
  /** Adds a webhook, or replaces its subscription. */
  readonly put: (subscription: Subscription) => void
  readonly remove: (webhook: WebhookNumber) => void
  readonly size: () => number
  /** `aqi.high` at every threshold t with from ≤ t < to; t is the `detail`. */
  readonly rise: (place: EventPlace, range: Range, on: Matched) => void
  /** Any other kind, with the detail given. */
  readonly match: (kind: CodedKind, place: EventPlace, detail: number, on: Matched) => void
  /** A webhook waits for a kind of the source; otherwise the source need not be read. */
  readonly wants: (source: SourceName) => boolean
}

export type EventPlace = {
  readonly sensor: string
  readonly area: string
  /** Of the reading that the event is about; undefined: it is not about one. */
  readonly level?: QualityLevel
}
type Range = { readonly from: number; readonly to: number }
/** A webhook waits for it under the kind's code, not under a threshold. */
export type CodedKind = Exclude<EventKind, 'aqi.high'>

const thresholds = 500
const codeOf = (kind: CodedKind): number => thresholds + ledgerNumberOf(kind)

/** Code → the webhooks that wait for it. */
type Bucket = Map<number, Set<WebhookNumber>>

export function createWebhookIndex(): WebhookIndex {
  const everywhere: Bucket = new Map()
  const bySensor = new Map<string, Bucket>()
  const byArea = new Map<string, Bucket>()
  const known = new Map<WebhookNumber, Subscription>()
  /** A cache: names of areas repeat, and making a slug costs more than the rest of a match. */
  const slugs = new Map<string, string>()
  /** How many webhooks wait for a kind of the source. */
  const wanting = new Map<SourceName, number>()

  const slug = (area: string): string => {
    const cached = slugs.get(area)
    if (cached !== undefined) return cached
    const computed = slugOf(area)
    if (slugs.size >= 10_000) slugs.clear()
    slugs.set(area, computed)
    return computed
  }

  const countWanting = ({ events }: Subscription, by: 1 | -1): void => {
    for (const source of new Set(events.map(sourceOf)))
      wanting.set(source, (wanting.get(source) ?? 0) + by)
  }

  const remove = (number: WebhookNumber): void => {
    const subscription = known.get(number)
    if (subscription === undefined) return
    known.delete(number)
    countWanting(subscription, -1)
    const [home, name] = homeOf(subscription)
    const bucket = home === undefined ? everywhere : home.get(name)
    for (const code of codesOf(subscription)) {
      const waiting = bucket?.get(code)
      waiting?.delete(number)
      if (waiting?.size === 0) bucket?.delete(code)
    }
    if (bucket?.size === 0) home?.delete(name)
  }

  const homeOf = ({ sensor, area }: Subscription): [Map<string, Bucket> | undefined, string] => {
    if (sensor !== undefined) return [bySensor, sensor]
    return area === undefined ? [undefined, ''] : [byArea, slug(area)]
  }

  /** A webhook that names both is in the bucket of its sensor; its area and its level are checked here. */
  const isThere = (number: WebhookNumber, { area, level }: EventPlace): boolean => {
    const subscription = known.get(number)
    if (!isGoodEnough(level, subscription?.minQuality)) return false
    const wanted = subscription?.area
    return wanted === undefined || slug(wanted) === slug(area)
  }

  const report = (
    waiting: ReadonlySet<WebhookNumber> | undefined,
    place: EventPlace,
    kind: EventKind,
    detail: number,
    on: Matched,
  ): void => {
    if (waiting === undefined) return
    for (const number of waiting) if (isThere(number, place)) on(number, kind, detail)
  }

  const bucketsOf = ({ sensor, area }: EventPlace): (Bucket | undefined)[] => [
    everywhere,
    bySensor.get(sensor),
    byArea.size === 0 ? undefined : byArea.get(slug(area)),
  ]

  return {
    put: (subscription) => {
      remove(subscription.number)
      known.set(subscription.number, subscription)
      countWanting(subscription, 1)
      const [home, name] = homeOf(subscription)
      const bucket = home === undefined ? everywhere : entryOf(home, name, () => new Map())
      for (const code of codesOf(subscription))
        entryOf(bucket, code, () => new Set()).add(subscription.number)
    },
    remove,
    size: () => known.size,
    rise: (place, range, on) => {
      for (const bucket of bucketsOf(place)) {
        if (bucket === undefined) continue
        for (const code of crossedCodes(bucket, range))
          report(bucket.get(code), place, 'aqi.high', code, on)
      }
    },
    match: (kind, place, detail, on) => {
      const code = codeOf(kind)
      for (const bucket of bucketsOf(place)) report(bucket?.get(code), place, kind, detail, on)
    },
    wants: (source) => (wanting.get(source) ?? 0) > 0,
  }
}

const isGoodEnough = (level: QualityLevel | undefined, least: QualityLevel | undefined): boolean =>
  level === undefined ||
  least === undefined ||
  qualityLevels.indexOf(level) <= qualityLevels.indexOf(least)

/** The thresholds in use that lie in [from, to), by whichever is the shorter way. */
function* crossedCodes(bucket: Bucket, { from, to }: Range) {
  const last = Math.min(to, thresholds)
  if (bucket.size < last - from) {
    for (const code of bucket.keys()) if (code >= from && code < last) yield code
  } else for (let code = from; code < last; code++) if (bucket.has(code)) yield code
}

function codesOf({ events, threshold }: Subscription): number[] {
  const floored = Math.min(Math.max(0, Math.floor(threshold)), thresholds - 1)
  return events.map((kind) => (kind === 'aqi.high' ? floored : codeOf(kind)))
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const added = make()
  map.set(key, added)
  return added
}
