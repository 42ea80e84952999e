import { badParameter } from '../http/api-error.ts'
import type { Params } from '../http/params.ts'

const prefix = 'a:'

/** Where a page of attempts ended, as an opaque word. @param seq of the last one looked at */
export const atCursor = (seq: number): string =>
  Buffer.from(`${prefix}${seq}`).toString('base64url')

/** @throws ApiError 400 */
export function readAtCursor(params: Params): number | undefined {
  const word = params.get('cursor')
  if (word === undefined) return undefined
  const place = word.length > 64 ? '' : Buffer.from(word, 'base64url').toString('latin1')
  const [, seq = ''] = /^a:([1-9]\d{0,14})$/.exec(place) ?? []
  if (seq === '') throw badParameter('cursor', word, 'a next_cursor of an earlier answer')
  return Number(seq)
}
