/**
 * Which webhooks does an event concern? The index has a bucket for every sensor and area that a
 * filter names and one for webhooks without either, so an event costs by its candidates and not by
 * the webhooks there are. Within a bucket webhooks stand under what they wait for: a threshold
 * 0…499 of `aqi.high`, or a code of another kind.
 */
import { slugOf } from '../air/area.ts'
import type { EventKind } from './delivery.ts'
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
}

export type Matched = (webhook: WebhookNumber, kind: EventKind, detail: number) => void

export type WebhookIndex = {
  /** Adds a webhook, or replaces what it waited for. */
  readonly put: (subscription: Subscription) => void
  readonly remove: (webhook: WebhookNumber) => void
  readonly size: () => number
  /** Thresholds t with from ≤ t < to fire; `aqi.critical` at its own. `detail` is the threshold. */
  readonly rise: (
    event: Place & { readonly from: number; readonly to: number },
    on: Matched,
  ) => void
  /** `detail` is 0. */
  readonly presence: (event: Place & { readonly isOnline: boolean }, on: Matched) => void
  /** @param place of the reading in its message: the `detail` */
  readonly reading: (event: Place & { readonly place: number }, on: Matched) => void
  /** Somebody wants readings: without this nobody need look at them. */
  readonly wantsReadings: () => boolean
}

type Place = { readonly sensor: string; readonly area: string }

const criticalAqi = 300
const thresholds = 500
const codes = {
  'aqi.critical': 500,
  'sensor.offline': 501,
  'sensor.online': 502,
  'reading.new': 503,
} as const

/** Code → the webhooks that wait for it. */
type Bucket = Map<number, Set<WebhookNumber>>

export function createWebhookIndex(): WebhookIndex {
  const everywhere: Bucket = new Map()
  const bySensor = new Map<string, Bucket>()
  const byArea = new Map<string, Bucket>()
  const known = new Map<WebhookNumber, Subscription>()
  /** Names of areas repeat; making a slug of one costs more than the rest of a match. */
  const slugs = new Map<string, string>()
  let readers = 0

  const slug = (area: string): string => {
    const found = slugs.get(area)
    if (found !== undefined) return found
    const made = slugOf(area)
    if (slugs.size >= 10_000) slugs.clear()
    slugs.set(area, made)
    return made
  }

  const remove = (number: WebhookNumber): void => {
    const subscription = known.get(number)
    if (subscription === undefined) return
    known.delete(number)
    if (subscription.events.includes('reading.new')) readers--
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

  /** A webhook that names both stands under its sensor; its area is looked at here. */
  const isThere = (number: WebhookNumber, area: string): boolean => {
    const wanted = known.get(number)?.area
    return wanted === undefined || slug(wanted) === slug(area)
  }

  const tell = (
    waiting: ReadonlySet<WebhookNumber> | undefined,
    { area }: Place,
    kind: EventKind,
    detail: number,
    on: Matched,
  ): void => {
    if (waiting === undefined) return
    for (const number of waiting) if (isThere(number, area)) on(number, kind, detail)
  }

  const bucketsOf = ({ sensor, area }: Place): (Bucket | undefined)[] => [
    everywhere,
    bySensor.get(sensor),
    byArea.size === 0 ? undefined : byArea.get(slug(area)),
  ]

  return {
    put: (subscription) => {
      remove(subscription.number)
      known.set(subscription.number, subscription)
      if (subscription.events.includes('reading.new')) readers++
      const [home, name] = homeOf(subscription)
      const bucket = home === undefined ? everywhere : entryOf(home, name, () => new Map())
      for (const code of codesOf(subscription))
        entryOf(bucket, code, () => new Set()).add(subscription.number)
    },
    remove,
    size: () => known.size,
    rise: (event, on) => {
      for (const bucket of bucketsOf(event)) {
        if (bucket === undefined) continue
        if (event.from <= criticalAqi && criticalAqi < event.to)
          tell(bucket.get(codes['aqi.critical']), event, 'aqi.critical', 0, on)
        for (const code of crossedCodes(bucket, event))
          tell(bucket.get(code), event, 'aqi.high', code, on)
      }
    },
    presence: (event, on) => {
      const kind = event.isOnline ? 'sensor.online' : 'sensor.offline'
      for (const bucket of bucketsOf(event)) tell(bucket?.get(codes[kind]), event, kind, 0, on)
    },
    reading: (event, on) => {
      for (const bucket of bucketsOf(event))
        tell(bucket?.get(codes['reading.new']), event, 'reading.new', event.place, on)
    },
    wantsReadings: () => readers > 0,
  }
}

/** The thresholds in use that lie in [from, to), by whichever is the shorter way. */
function* crossedCodes(bucket: Bucket, { from, to }: { from: number; to: number }) {
  const last = Math.min(to, thresholds)
  if (bucket.size < last - from) {
    for (const code of bucket.keys()) if (code >= from && code < last) yield code
  } else for (let code = from; code < last; code++) if (bucket.has(code)) yield code
}

function codesOf({ events, threshold }: Subscription): number[] {
  const floored = Math.min(Math.max(0, Math.floor(threshold)), thresholds - 1)
  return events.map((kind) => (kind === 'aqi.high' ? floored : codes[kind]))
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}
