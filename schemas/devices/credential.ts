import type { FromSchema } from 'json-schema-to-ts'
import { checkOf } from '../check.ts'

const hash = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description: 'sha256 of the whole secret, hex; the secret itself is not stored',
} as const

/** How a sensor's credential is checked: bucket `credentials`, key = id. */
export const credentialSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/credential',
  title: 'Credential',
  type: 'object',
  required: ['hash', 'created_at'],
  properties: {
    hash,
    created_at: { type: 'string', description: 'ISO 8601, when this secret was made' },
    previous: {
      type: 'object',
      description: 'the previous secret, valid for a while longer',
      required: ['hash', 'until'],
      properties: { hash, until: { type: 'string', description: 'ISO 8601' } },
    },
    revoked_at: { type: 'string', description: 'neither secret is valid from then on' },
  },
} as const

export type Credential = FromSchema<typeof credentialSchema>

const isCredential = checkOf<Credential>(credentialSchema)

/** @returns undefined if it is invalid: a sign-in with it fails */
export const parseCredential = (value: unknown): Credential | undefined =>
  isCredential(value) ? value : undefined
