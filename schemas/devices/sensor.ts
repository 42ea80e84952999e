import type { FromSchema } from 'json-schema-to-ts'
import type { SignatureAlgorithm } from '../../core/air/device-signature.ts'

const site = {
  type: 'object',
  description: 'The place of the sensor from a time on, until the next site begins.',
  additionalProperties: false,
  required: ['from', 'area', 'lat', 'lon', 'address'],
  properties: {
    from: { type: 'string', description: 'ISO 8601 with an offset' },
    area: { type: 'string', minLength: 1, maxLength: 80 },
    lat: { type: 'number', minimum: -90, maximum: 90 },
    lon: { type: 'number', minimum: -180, maximum: 180 },
    address: { type: 'string', maxLength: 200 },
  },
} as const

/** Firmware that fixes its own topics, bodies or ids. */
export const deviceKinds = [
  'airgradient',
  'tasmota',
  'esphome',
  'zigbee2mqtt',
  'airrohr',
  'sensor-community',
  'purpleair',
  'ttn',
  'chirpstack',
] as const

const device = {
  type: 'object',
  description: 'The kind of device, if its firmware cannot send our format.',
  additionalProperties: false,
  required: ['kind', 'serial'],
  properties: {
    kind: { enum: deviceKinds },
    serial: {
      type: 'string',
      // it becomes a token of NATS subjects and a level of MQTT topics
      pattern: '^[A-Za-z0-9_:-]{1,64}$',
      description: 'the device’s own identifier: a serial number, a topic, a device EUI',
    },
    options: {
      type: 'object',
      description: 'settings of this kind of device, such as a table of fields',
      maxProperties: 32,
      additionalProperties: { type: ['string', 'number', 'boolean'] },
    },
  },
} as const

/** Those that it had stay: they say who signed its older readings, which may still arrive. */
export const mostKeys = 8

const key = {
  type: 'object',
  description: 'A public key with which the device signs, for readings of a time.',
  additionalProperties: false,
  required: ['algorithm', 'public_key', 'from'],
  properties: {
    algorithm: { enum: ['ed25519', 'p256'] satisfies SignatureAlgorithm[] },
    public_key: {
      type: 'string',
      description: 'base64: 32 bytes for ed25519, the 33 of the compressed point for p256',
    },
    from: { type: 'string', description: 'ISO 8601 with an offset' },
    until: {
      type: 'string',
      description: 'from this time on it is no longer valid; absent: it is',
    },
    added_at: {
      type: 'string',
      description: 'when it was entered here; absent: that was not kept',
    },
  },
} as const

const control = '\\u0000-\\u001f\\u007f-\\u009f'
/** One line of text for people. */
const line = { type: 'string', pattern: `^[^\\s${control}][^${control}]*$` } as const

/** What everyone may know about a device; from format level 3. */
const about = {
  make: { ...line, maxLength: 80, description: 'who made it' },
  model: { ...line, maxLength: 80, description: 'what its maker calls it' },
  indoor: { type: 'boolean', description: 'true: it measures the air of a room' },
  height_m: { type: 'number', minimum: -500, maximum: 9_000, description: 'above the ground' },
  licence: {
    ...line,
    maxLength: 200,
    description: 'of its data, if it is not that of the network: SPDX, or words',
  },
  owner: { ...line, maxLength: 200, description: 'whom to name, as the owner wants to be named' },
} as const

export type AboutName = keyof typeof about
// Object.keys is typed string[]; the cast only names the strings
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const aboutNames = Object.keys(about) as AboutName[]

/** A registry entry: bucket `sensors`, key = id. */
export const sensorSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/sensor',
  title: 'Sensor',
  type: 'object',
  additionalProperties: false,
  required: ['id', 'cadence_seconds', 'sites', 'created_at'],
  properties: {
    id: { type: 'string', maxLength: 64 },
    cadence_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 86_400,
      description: 'seconds between measurements; three missed ones are silence',
    },
    sites: {
      type: 'array',
      minItems: 1,
      maxItems: 1_000,
      items: site,
      description: 'oldest first',
    },
    created_at: { type: 'string' },
    retired_at: {
      type: 'string',
      description: 'taken out of the network: its readings stay, new ones are refused',
    },
    ...about,
    device,
    keys: {
      type: 'array',
      minItems: 1,
      maxItems: mostKeys,
      items: key,
      description: 'public keys of the device, oldest first; from format level 3',
    },
    signature: {
      enum: ['required', 'optional'],
      description: 'required: a reading without a signature is refused; absent: optional',
    },
    signature_since: {
      type: 'string',
      description: 'since when it is required; absent: it is not, or that was not kept',
    },
    receipts: {
      type: 'boolean',
      description: 'after each commit, air.ack.<id> carries the newest committed timestamp',
    },
    flood: {
      type: 'object',
      description: 'how much it may send before it is paused; an array is one message',
      additionalProperties: false,
      required: ['per_second', 'burst'],
      properties: {
        per_second: { type: 'number', exclusiveMinimum: 0, maximum: 10_000 },
        burst: { type: 'integer', minimum: 1, maximum: 1_000_000 },
      },
    },
  },
} as const

export type SensorEntry = FromSchema<typeof sensorSchema>
export type Site = SensorEntry['sites'][number]
export type SensorAbout = Pick<SensorEntry, AboutName>
export type SensorKey = NonNullable<SensorEntry['keys']>[number]
export type Device = NonNullable<SensorEntry['device']>

export const defaultCadenceSeconds = 300

/** A sensor as most are: it was only ever at one site, and nothing else is known of it. */
export const plainSensor = {
  /** The JSON of its entry, with nothing in place of each value. */
  skeleton:
    '{"id":"","cadence_seconds":,"sites":[{"from":"","area":"","lat":,"lon":,"address":""}],"created_at":""}',
  /** @param values the texts of the values @returns what JSON.parse makes of the entry, in half of the time */
  entryOf: (values: readonly string[]): SensorEntry => {
    const [id = '', cadence, from = '', area = '', lat, lon, address = '', created_at = ''] = values
    const site = { from, area, lat: Number(lat), lon: Number(lon), address }
    return { id, cadence_seconds: Number(cadence), sites: [site], created_at }
  },
}
