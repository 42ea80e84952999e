/**
 * Where a page ended, as an opaque word: base64url of the place, so that nobody builds one by hand
 * and its content may change.
 */
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import type { Cursor } from '../../store/store.ts'
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
export const readingCursor = ({ timeMs, sensor }: Cursor): string => wrap(`r:${timeMs}:${sensor}`)

/** The sensor behind which the page begins. @throws ApiError 400 */
export function readIdCursor(params: Params, rules: SensorIdRules): string | undefined {
  const found = unwrap(params)
  if (found === undefined) return undefined
  const id = found.place.startsWith('s:') ? rules.parse(found.place.slice(2)) : undefined
  if (id === undefined) throw badParameter('cursor', found.word, expected)
  return id
}

/** @throws ApiError 400 */
export function readReadingCursor(params: Params, rules: SensorIdRules): Cursor | undefined {
  const found = unwrap(params)
  if (found === undefined) return undefined
  const [, time = '', id = ''] = /^r:(\d{1,15}):(.+)$/.exec(found.place) ?? []
  const sensor = rules.parse(id)
  const timeMs = Number(time)
  if (sensor === undefined || time === '' || timeMs > latestMs) {
    throw badParameter('cursor', found.word, expected)
  }
  return { timeMs, sensor }
}
