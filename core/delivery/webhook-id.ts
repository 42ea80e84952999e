/**
 * A webhook's public id is its number in base 32, so that a record of the ledger holds 4 bytes and
 * no table of ids is needed. The process that creates a webhook draws its number at random; the
 * bucket's `create` fails if it is taken.
 */
import type { Brand } from '../brand.ts'

/** `wh_` and seven letters or digits of Crockford's base 32, lower case. */
export type WebhookId = Brand<string, 'WebhookId'>
/** A whole number below 2^32. */
export type WebhookNumber = number

/** The number of ledgers of deliveries, each written by one process at a time. */
export const shardCount = 4

const digits = '0123456789abcdefghjkmnpqrstvwxyz'
const length = 7

/** @param number whole, 0 ≤ number < 2^32 */
export function webhookIdOf(number: WebhookNumber): WebhookId {
  let text = ''
  let rest = number
  for (let i = 0; i < length; i++) {
    text = `${digits[rest % 32]}${text}`
    rest = Math.floor(rest / 32)
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the constructor of the brand
  return `wh_${text}` as WebhookId
}

/** @returns undefined if the text is not an id: every webhook has exactly one spelling */
export function webhookNumberOf(id: string): WebhookNumber | undefined {
  if (id.length !== length + 3 || !id.startsWith('wh_')) return undefined
  let number = 0
  for (let i = 3; i < id.length; i++) {
    const digit = digits.indexOf(id[i] ?? '')
    if (digit < 0) return undefined
    number = number * 32 + digit
  }
  return number < 2 ** 32 ? number : undefined
}

/** Which ledger holds the webhook's deliveries. */
export const shardOf = (number: WebhookNumber): number => number % shardCount
