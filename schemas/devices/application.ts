import type { FromSchema } from 'json-schema-to-ts'
import { mapQuantities, quantityNames } from '../../core/air/quantities.ts'
import { checkOf } from '../check.ts'
import { credentialSchema } from './credential.ts'

export const applicationKinds = ['ttn', 'chirpstack', 'gateway'] as const

const idPattern = '^[a-z][a-z0-9-]{1,39}$'
const idForm = new RegExp(idPattern)

/** The subject of a raw message names a sensor, or a gateway, whose readings name theirs. */
export const isGateway = (sender: string): boolean =>
  // of each raw message it is asked: the ids of sensors do not begin with a lower-case letter
  sender.charCodeAt(0) >= firstLetter && idForm.test(sender)
const firstLetter = 'a'.charCodeAt(0)

const key = { type: 'string', minLength: 1, maxLength: 80 } as const
const { required, properties } = credentialSchema

/**
 * What sends for many sensors with one credential: bucket `applications`, key = id. For a LoRaWAN
 * application its network server posts the devices' uplinks, and a device is the sensor whose
 * registry entry names its EUI. A gateway names the sensor in each reading.
 */
export const applicationSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/application',
  title: 'Application',
  type: 'object',
  additionalProperties: false,
  required: ['id', 'kind', 'credential', 'created_at'],
  properties: {
    // lower case, so that none can be mistaken for a sensor's id
    id: { type: 'string', pattern: idPattern },
    kind: { enum: applicationKinds },
    credential: { type: 'object', required, properties },
    fields: {
      type: 'object',
      description:
        'of LoRaWAN: the key of the decoded payload that holds each quantity, in our units',
      additionalProperties: false,
      minProperties: 1,
      properties: mapQuantities(() => key),
    },
    devices: {
      type: 'array',
      description: 'of LoRaWAN: prefixes of the EUIs of its devices; absent: any of its kind',
      minItems: 1,
      maxItems: 100,
      items: { type: 'string', pattern: '^[0-9A-F]{1,16}$' },
    },
    sensors: {
      type: 'array',
      description: 'of a gateway: prefixes of the ids it may send for; absent: any in the registry',
      minItems: 1,
      maxItems: 100,
      items: { type: 'string', pattern: '^[A-Z0-9][A-Z0-9-]{0,39}$' },
    },
    created_at: { type: 'string', description: 'ISO 8601' },
  },
} as const

export type Application = FromSchema<typeof applicationSchema>
export type ApplicationKind = (typeof applicationKinds)[number]

const isApplication = checkOf<Application>(applicationSchema)

/** What belongs to another kind, or is missing for this one. */
function partsFault({ kind, fields, devices, sensors }: Application): string | undefined {
  if (kind === 'gateway')
    return fields === undefined && devices === undefined
      ? undefined
      : 'fields and devices are of ttn and chirpstack'
  if (sensors !== undefined) return 'sensors is of a gateway'
  return fields === undefined ? 'fields is needed' : undefined
}

/** What is wrong with an application's entry, for people, or undefined. */
export function applicationFault(value: unknown): string | undefined {
  if (isApplication(value)) return partsFault(value)
  const [first] = isApplication.errors ?? []
  const path = first?.instancePath.slice(1).replaceAll('/', '.') || 'the application'
  if (path === 'fields') return `fields: ${first?.message}, of ${quantityNames.join(', ')}`
  return `${path} ${first?.message ?? 'is not valid'}`
}

/** @returns undefined if it is invalid, or its id is not its key */
export const parseApplication = (value: unknown, id: string): Application | undefined =>
  isApplication(value) && value.id === id && partsFault(value) === undefined ? value : undefined
