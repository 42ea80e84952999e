import type { FromSchema } from 'json-schema-to-ts'
import { mapQuantities, quantityNames } from '../../core/air/quantities.ts'
import { checkOf } from '../check.ts'
import { credentialSchema } from './credential.ts'

export const applicationKinds = ['ttn', 'chirpstack'] as const

const key = { type: 'string', minLength: 1, maxLength: 80 } as const
const { required, properties } = credentialSchema

/**
 * A LoRaWAN application whose network server posts its devices' uplinks: bucket `applications`,
 * key = id. A device is the sensor whose registry entry names its EUI.
 */
export const applicationSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/application',
  title: 'Application',
  type: 'object',
  additionalProperties: false,
  required: ['id', 'kind', 'credential', 'fields', 'created_at'],
  properties: {
    // lower case, so that none can be mistaken for a sensor's id
    id: { type: 'string', pattern: '^[a-z][a-z0-9-]{1,39}$' },
    kind: { enum: applicationKinds },
    credential: { type: 'object', required, properties },
    fields: {
      type: 'object',
      description: 'the key of the decoded payload that holds each quantity, in our units',
      additionalProperties: false,
      minProperties: 1,
      properties: mapQuantities(() => key),
    },
    devices: {
      type: 'array',
      description: 'prefixes of the EUIs of its devices; absent: any device of its kind',
      minItems: 1,
      maxItems: 100,
      items: { type: 'string', pattern: '^[0-9A-F]{1,16}$' },
    },
    created_at: { type: 'string', description: 'ISO 8601' },
  },
} as const

export type Application = FromSchema<typeof applicationSchema>
export type ApplicationKind = (typeof applicationKinds)[number]

const isApplication = checkOf<Application>(applicationSchema)

/** What is wrong with an application's entry, for people, or undefined. */
export function applicationFault(value: unknown): string | undefined {
  if (isApplication(value)) return undefined
  const [first] = isApplication.errors ?? []
  const path = first?.instancePath.slice(1).replaceAll('/', '.') || 'the application'
  if (path === 'fields') return `fields: ${first?.message}, of ${quantityNames.join(', ')}`
  return `${path} ${first?.message ?? 'is not valid'}`
}

/** @returns undefined if it is invalid, or its id is not its key */
export const parseApplication = (value: unknown, id: string): Application | undefined =>
  isApplication(value) && value.id === id ? value : undefined
