/**
 * Where a page ended, as an opaque text: base64url of the place, so that clients do not build one
 * themselves and its content may change.
 */
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import type { Cursor, Order } from '../../store/store.ts'
import { badParameter } from './api-error.ts'
import { latestMs, type Params } from './params.ts'

const wrap = (place: string): string => Buffer.from(place).toString('base64url')

function unwrap(params: Params): { readonly word: string; readonly place: string } | undefined {
  const word = params.get('cursor')
  if (word === undefined) return undefined
  return { word, place: word.length > 128 ? '' : Buffer.from(word, 'base64url').toString('latin1') }
}

const expected = 'a next_cursor of an earlier answer'

export const idCursor = (id: string): string => wrap(`s:${id}`)
/** In the order of (distance, id). */
export type DistancePlace = { readonly distanceM: number; readonly id: string }
export const distanceCursor = ({ distanceM, id }: DistancePlace): string =>
  wrap(`d:${distanceM}:${id}`)
const orderMarks: Readonly<Record<Order, string>> = { desc: 'r', asc: 'a' }
export const readingCursor = ({ timeMs, sensor }: Cursor, order: Order): string =>
  wrap(`${orderMarks[order]}:${timeMs}:${sensor}`)

/** The sensor after which the page starts. @throws ApiError 400 */
export function readIdCursor(params: Params, rules: SensorIdRules): string | undefined {
  const cursor = unwrap(params)
  if (cursor === undefined) return undefined
  const id = cursor.place.startsWith('s:') ? rules.parse(cursor.place.slice(2)) : undefined
  if (id === undefined) throw badParameter('cursor', cursor.word, expected)
  return id
}

/** @throws ApiError 400 */
export function readDistanceCursor(
  params: Params,
  rules: SensorIdRules,
): DistancePlace | undefined {
  const cursor = unwrap(params)
  if (cursor === undefined) return undefined
  const [, distance = '', text = ''] =
    /^d:(\d{1,8}(?:\.\d{1,20})?(?:e-\d{1,2})?):(.+)$/.exec(cursor.place) ?? []
  const id = rules.parse(text)
  if (distance === '' || id === undefined) throw badParameter('cursor', cursor.word, expected)
  return { distanceM: Number(distance), id }
}

/** @throws ApiError 400, also for a cursor of the other order */
export function readReadingCursor(
  params: Params,
  rules: SensorIdRules,
  order: Order,
): Cursor | undefined {
  const cursor = unwrap(params)
  if (cursor === undefined) return undefined
  const [, mark, time = '', id = ''] = /^(\w):(\d{1,15}):(.+)$/.exec(cursor.place) ?? []
  const sensor = rules.parse(id)
  const timeMs = Number(time)
  const isOfOrder = mark === orderMarks[order]
  if (!isOfOrder || sensor === undefined || time === '' || timeMs > latestMs) {
    throw badParameter('cursor', cursor.word, expected)
  }
  return { timeMs, sensor }
}
