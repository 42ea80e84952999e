/**
 * Is a request to create the repeat of an earlier one? A webhook's record holds the idempotency key
 * and the request it was created with, both as hashes, for as long as it exists.
 */
import { createHash } from 'node:crypto'
import { parseIso } from '../../core/iso-time.ts'
import { dayMs } from '../../core/time.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'
import { ApiError } from '../http/api-error.ts'
import { keyUsed } from './webhook-error.ts'

export type Creation = { readonly key: string; readonly request: string }

const repeatWithinMs = dayMs
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** @throws ApiError 400 */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return header
  const expected = '1 to 255 printable ASCII characters without spaces'
  throw new ApiError(400, 'bad_idempotency_key', `Idempotency-Key must be ${expected}`, {
    details: { header: 'Idempotency-Key', expected },
  })
}

/** @param sent the body as received: the order of its fields does not matter */
export const creationOf = (key: string, sent: unknown): Creation => ({
  key: sha256(key),
  request: sha256(JSON.stringify(inOrder(sent))),
})

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => [name, inOrder(field)])
}

/**
 * @returns whether the webhook was created by this very request, less than a day ago
 * @throws ApiError 409 if it was created with the same key by another request
 */
export function isRepeat(webhook: Webhook, creation: Creation, nowMs: number): boolean {
  const creator = webhook['idempotency']
  if (
    typeof creator !== 'object' ||
    creator === null ||
    !('key' in creator) ||
    !('request' in creator)
  ) {
    return false
  }
  const created = parseIso(webhook.created_at)
  if (creator.key !== creation.key || !('timeMs' in created)) return false
  if (nowMs - created.timeMs >= repeatWithinMs) return false
  if (creator.request !== creation.request) throw keyUsed('another request came with the same key')
  return true
}

/** @param deletedMs when the webhook with the key's id was deleted */
export const isKeySpent = (deletedMs: number, nowMs: number): boolean =>
  nowMs - deletedMs < repeatWithinMs
