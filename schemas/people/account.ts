import type { FromSchema } from 'json-schema-to-ts'

/** Bucket `accounts`, key = id. How its password is checked is in bucket `passwords`. */
export const accountSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/account',
  title: 'Account',
  type: 'object',
  required: ['id', 'email', 'name', 'tier', 'role', 'created_at'],
  properties: {
    id: { type: 'string' },
    email: { type: 'string', maxLength: 254 },
    name: { type: 'string', maxLength: 200 },
    organization: { type: 'string', maxLength: 200 },
    tier: { enum: ['free', 'premium'] },
    role: { enum: ['user', 'operator'] },
    language: {
      type: 'string',
      maxLength: 35,
      description: 'of the emails to it; English if it is absent or not known',
    },
    created_at: { type: 'string' },
    confirmed_at: {
      type: 'string',
      description: 'when the address was confirmed; not needed if the operator made the account',
    },
  },
} as const

export type Account = FromSchema<typeof accountSchema>

/** Bucket `keys`, key = sha256 of the API key in hex: the key itself is not stored. */
export const keySchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/key',
  title: 'API key',
  type: 'object',
  required: ['id', 'account', 'name', 'hint', 'created_at', 'expires_at'],
  properties: {
    id: { type: 'string', description: 'public name of the key, for lists and revocation' },
    account: { type: 'string' },
    name: { type: 'string', maxLength: 100 },
    hint: { type: 'string', description: 'the first characters of the key' },
    created_at: { type: 'string' },
    expires_at: {
      type: 'string',
      description:
        'when it stops: 90 days after created_at, or sooner if its owner chose so or rolled it',
    },
    revoked_at: { type: 'string' },
    reminded_days: {
      type: 'integer',
      description: 'days before the expiry for which the last reminder was queued',
    },
    internal: {
      type: 'boolean',
      description: 'the dashboard’s own: no quota, and it may act on behalf of any account',
    },
  },
} as const

export type KeyRecord = FromSchema<typeof keySchema>
