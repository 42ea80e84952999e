/** What the map and the list show of each sensor: a quantity, an averaging, an index. */
import { signal } from '@preact/signals'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { quantityNames } from '../../../../core/air/quantities.ts'
import { getJson } from '../../data.ts'
import { useAddress } from '../../parts/address-state.ts'
import { palette } from '../../parts/air/palette.ts'
import { type Scale, type ShownQuantity, scaleOf, servedScale } from '../../parts/air/scales.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { useEvery } from '../../parts/use-every.ts'
import { texts } from '../../texts.ts'
import type { CitySensor } from './city-sensor.ts'
import type { LiveCity } from './live-city.ts'

export const means = ['nowcast', 'live', '24h'] as const
export type Mean = (typeof means)[number]
export const indices = ['us', 'eu'] as const
export type IndexName = (typeof indices)[number]

export type Choice = {
  readonly quantity: ShownQuantity
  /** Of the index; other quantities are those of the last reading. */
  readonly mean: Mean
  readonly index: IndexName
}

export type Shown = Choice & {
  readonly scale: Scale
  /** null: there is none, or the sensor is offline. */
  readonly valueFor: (sensor: CitySensor) => number | null
}

/** What is on show at present, for the list; undefined before the map knows. */
export const shownNow = signal<Shown | undefined>(undefined)

type Picked = Readonly<Record<string, number | string | null>> & { readonly id: string }
type Page = { readonly sensors: readonly Picked[]; readonly next_cursor: string | null }

const againMs = 60_000
/** Asked for once a minute; of a larger city the values come as many pages per minute. */
const pagesPerMinute = 10
const mostPages = 100

/** The choice, from the address, and how to change it. */
export function useChoice(): readonly [Choice, (changes: Partial<Choice>) => void] {
  const [show, setShow] = useAddress('show', 'aqi')
  const [meanName, setMean] = useAddress('mean', 'nowcast')
  const [indexName, setIndex] = useAddress('index', 'us')
  const quantity: ShownQuantity = quantityNames.find((name) => name === show) ?? 'aqi'
  const mean = means.find((name) => name === meanName) ?? 'nowcast'
  const index = indices.find((name) => name === indexName) ?? 'us'
  const choice = useMemo(() => ({ quantity, mean, index }), [quantity, mean, index])
  return [
    choice,
    (changes) => {
      if (changes.quantity !== undefined) setShow(changes.quantity)
      if (changes.mean !== undefined) setMean(changes.mean)
      if (changes.index !== undefined) setIndex(changes.index)
    },
  ]
}

/** The name of the field that holds it, and whether the stream keeps it up to date by itself. */
export function fieldOf({ quantity, mean, index }: Choice): { field: string; isStreamed: boolean } {
  if (quantity !== 'aqi') return { field: quantity, isStreamed: false }
  if (mean === 'nowcast') return { field: 'aqi_nowcast', isStreamed: false }
  if (mean === '24h') return { field: 'aqi_24h', isStreamed: false }
  return { field: 'aqi', isStreamed: index === 'us' }
}

async function listValues(
  choice: Choice,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number | null>> {
  const { field } = fieldOf(choice)
  const values = new Map<string, number | null>()
  let cursor: string | null = ''
  for (let page = 0; page < mostPages && cursor !== null; page++) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const path = `/data/v1/sensors?include=latest&limit=1000&fields=id,${field}&index=${choice.index}${from}`
    const answer: Page = await getJson<Page>(path, { signal })
    for (const sensor of answer.sensors) {
      const value = sensor[field]
      values.set(sensor.id, typeof value === 'number' ? value : null)
    }
    cursor = answer.next_cursor
  }
  return values
}

type ServedScale = Parameters<typeof servedScale>[0]

/** @returns what is on show, the same object until something of it changes */
export function useShown(live: LiveCity, choice: Choice): Shown {
  const { isStreamed } = fieldOf(choice)
  const { quantity, mean, index } = choice
  const isForeign = quantity === 'aqi' && index !== 'us'
  const [kept, setKept] = useState<{ choice: Choice; values: ReadonlyMap<string, number | null> }>()
  const answer = useAnswer(
    async (signal) =>
      isStreamed ? undefined : { choice, values: await listValues(choice, signal) },
    [choice],
  )
  const pages = live.listed.value === 'all' ? live.sensors.size / 1_000 : 1
  useEvery(
    againMs * Math.max(1, pages / pagesPerMinute),
    useCallback(() => {
      if (!isStreamed) answer.again()
    }, [isStreamed]),
  )
  useEffect(() => setKept(answer.value), [answer.value])
  const served = useAnswer(
    async (signal) =>
      isForeign
        ? await getJson<ServedScale>(`/data/v1/aqi/scale?index=${index}`, { signal })
        : undefined,
    [isForeign, index],
  ).value
  const values = kept?.choice === choice ? kept.values : undefined
  const isVision = palette.value === 'vision'
  const valueFor = useMemo(() => {
    // until the hours suffice for a NowCast, and until values are there: the last reading's
    const isNowcast = quantity === 'aqi' && mean === 'nowcast' && index === 'us'
    return (sensor: CitySensor): number | null => {
      if (!sensor.isOnline) return null
      if (isStreamed) return sensor.aqi
      const value = values?.get(sensor.id) ?? null
      return value ?? (isNowcast ? sensor.aqi : null)
    }
  }, [choice, values])
  const scale = useMemo(() => {
    if (isForeign && served !== undefined)
      return servedScale(served, texts.map.categoriesEu, isVision)
    const all =
      quantity === 'aqi' ? [] : [...live.sensors.values()].flatMap((s) => valueFor(s) ?? [])
    return scaleOf(quantity, all)
  }, [choice, served, isVision, values])
  return useMemo(() => ({ ...choice, scale, valueFor }), [choice, scale, valueFor])
}
