/** Buckets `quota` and `used`: the requests charged to an account, and when a key was last used. */
import type { FromSchema } from 'json-schema-to-ts'
import { type Count, noCount } from '../../core/access/quota.ts'
import { asVersion1 } from '../formats.ts'

/** Bucket `quota`, key = `<UTC day>.<account id>`, and `.<key id>` for one key; deleted after 40 days. */
export const quotaSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/quota',
  title: 'What an account has used of a day',
  type: 'object',
  required: ['used', 'minute', 'in_minute'],
  additionalProperties: false,
  properties: {
    used: { type: 'integer', minimum: 0, description: 'requests charged to the day' },
    minute: { type: 'integer', minimum: 0, description: 'since the epoch' },
    in_minute: { type: 'integer', minimum: 0, description: 'requests of that minute' },
  },
} as const

type StoredCount = FromSchema<typeof quotaSchema>

export const quotaKey = (day: string, account: string): string => `${day}.${account}`

/** Requests of one key of the account, in the same form; written some seconds later. */
export const keyQuotaKey = (day: string, account: string, key: string): string =>
  `${quotaKey(day, account)}.${key}`

/** In place of the key where an account used very many on one day. */
export const otherKeys = 'other'

export const encodeCount = ({ used, minute, inMinute }: Count): string =>
  JSON.stringify({ used, minute, in_minute: inMinute } satisfies StoredCount)

/** The count under a key: `noCount` if it was deleted. @throws Error if it is not one, NewerFormat */
export function decodeCount(text: string): Count {
  if (text === '') return noCount
  const value = asVersion1('entry', JSON.parse(text))
  if (!isStored(value)) throw new Error(`bucket quota holds something that is not a count: ${text}`)
  return { used: value.used, minute: value.minute, inMinute: value.in_minute }
}

const isStored = (value: unknown): value is StoredCount =>
  typeof value === 'object' &&
  value !== null &&
  ['used', 'minute', 'in_minute'].every((name) =>
    Number.isSafeInteger(Object.getOwnPropertyDescriptor(value, name)?.value),
  )
