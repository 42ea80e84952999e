/** /v1 for programs: OpenAPI 3.1. What the routes take and give, kept beside them by a test. */
import { usagePaths } from './openapi-usage.ts'
import { webhookCalls, webhookComponents, webhookPaths } from './openapi-webhooks.ts'

const text = { type: 'string' } as const
const time = { type: 'string', format: 'date-time', description: 'ISO 8601, UTC' } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const
const number = { type: 'number' } as const
const numberOrNull = { type: ['number', 'null'] } as const
const integer = { type: 'integer' } as const
const integerOrNull = { type: ['integer', 'null'] } as const
const category = {
  enum: [
    'good',
    'moderate',
    'unhealthy_sensitive',
    'unhealthy',
    'very_unhealthy',
    'hazardous',
    null,
  ],
} as const
const pollutant = { enum: ['pm25', 'pm10', null] } as const
const success = { const: 'success' } as const
const cursor = { type: ['string', 'null'], description: 'null: this is the last page' } as const

const object = <const P extends Readonly<Record<string, object>>>(properties: P) =>
  ({ type: 'object', required: Object.keys(properties), properties }) as const
const arrayOf = <const I extends object>(items: I) => ({ type: 'array', items }) as const
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as const

const query = (name: string, schema: object, description: string) =>
  ({ name, in: 'query', required: false, schema, description }) as const
const path = (name: string, description: string) =>
  ({ name, in: 'path', required: true, schema: text, description }) as const

const limit = (otherwise: number) =>
  query(
    'limit',
    { type: 'integer', minimum: 1, maximum: 1000, default: otherwise },
    `at most so many, 1 to 1000; ${otherwise} unless given`,
  )
const nextPage = query('cursor', text, 'next_cursor of the page before')
const startTime = query('start_time', time, 'inclusive; without an offset it is UTC')
const endTime = query('end_time', time, 'exclusive; without an offset it is UTC')

const measured = {
  pm25: { ...numberOrNull, description: 'µg/m³' },
  pm10: { ...numberOrNull, description: 'µg/m³' },
  co2: { ...numberOrNull, description: 'ppm' },
  temperature: { ...numberOrNull, description: '°C' },
  humidity: { ...numberOrNull, description: '%RH' },
} as const

const location = object({ lat: number, lon: number, address: text })
const sensorCounts = object({ total: integer, online: integer, offline: integer })
const fieldStatistics = object({
  avg: numberOrNull,
  min: numberOrNull,
  max: numberOrNull,
  median: numberOrNull,
  p98: numberOrNull,
  unit: text,
})
const measurementStatistics = object({
  pm25: fieldStatistics,
  pm10: fieldStatistics,
  co2: fieldStatistics,
  temperature: fieldStatistics,
  humidity: fieldStatistics,
})
const aqiStatistics = {
  average: numberOrNull,
  median: numberOrNull,
  min: integerOrNull,
  max: integerOrNull,
  category,
  dominant_pollutant: pollutant,
} as const
const areaBrief = object({
  name: text,
  code: { type: ['string', 'null'] },
  slug: text,
  sensors: sensorCounts,
  last_updated: timeOrNull,
})

const proofStatus = {
  enum: ['pending', 'anchoring', 'verified', 'mismatch'],
  description:
    'in no batch yet; in one that is not final yet, or that nobody looked at for 5 minutes; anchored; not what was anchored',
} as const
const textOrNull = { type: ['string', 'null'] } as const
const nullable = (schema: object) => ({ oneOf: [schema, { type: 'null' }] })
const hash = { ...text, pattern: '^0x[0-9a-f]{64}$' } as const
const readingTime = {
  ...query('timestamp', time, 'of the reading; without an offset it is UTC'),
  required: true,
} as const
const hashPin = query('hash', hash, 'answers 409 where the reading has another hash')
const sensorId = path('sensor_id', 'the id, or its short form where that is unambiguous')
const bundle = {
  type: 'object',
  description: 'airproof.proof.v1, as docs/proofs.md describes it',
} as const

const schemas = {
  Sensor: object({
    id: { ...text, description: 'NGR-LOS-{AREA}-{NUMBER}' },
    area: text,
    location,
    status: { enum: ['online', 'offline'] },
    last_reading: timeOrNull,
    uptime_24h: { type: 'number', minimum: 0, maximum: 1 },
    aqi: { ...integerOrNull, description: 'of its last reading' },
  }),
  Reading: {
    ...object({
      sensor_id: text,
      timestamp: time,
      ...measured,
      measurements: object(measured),
      aqi: { ...integerOrNull, description: 'of this reading alone: US EPA, table of 2024' },
      aqi_category: category,
      dominant_pollutant: pollutant,
      beyond_index: { type: 'boolean', description: 'above the table, which ends at 500' },
      quality: arrayOf(text),
      blockchain: object({
        hash: { ...text, pattern: '^0x[0-9a-f]{64}$' },
        verified: {
          type: 'boolean',
          description: 'its batch is anchored for good; /verify recomputes it from the row',
        },
        tx_hash: { type: ['string', 'null'] },
        status: proofStatus,
      }),
      blockchain_tx: { type: ['string', 'null'] },
    }),
    description: 'shape=flat and shape=nested leave fields out',
  },
  Verification: object({
    status: proofStatus,
    sensor_id: text,
    timestamp: time,
    reason: { ...textOrNull, description: 'why it is anchoring or a mismatch, for programs' },
    reading_hash: { ...hash, description: 'the leaf, recomputed from the stored row' },
    merkle_root: textOrNull,
    ledger_tx: { ...textOrNull, description: 'where people look at the transaction' },
    verified_at: { ...timeOrNull, description: 'now, where it is verified' },
    anchored_at: { ...timeOrNull, description: 'time of the block' },
    expected_by: { ...timeOrNull, description: 'when it should be anchored for good' },
    chain_checked_at: { ...timeOrNull, description: 'when the chain was last looked at' },
    merkle_proof: nullable(
      object({ root: hash, path: arrayOf(hash), leaf_index: integer, leaf_count: integer }),
    ),
    ledger: nullable(
      object({
        tx_hash: hash,
        explorer_url: text,
        chain_id: integerOrNull,
        contract: textOrNull,
        block_number: integerOrNull,
        block_hash: textOrNull,
        finalized: nullable(object({ block_number: integer, block_hash: hash })),
      }),
    ),
    batch: nullable(object({ index: integer, first: integer, last: integer, sealed_at: time })),
    reading: {
      ...object({
        sensor_id: text,
        time_ms: integer,
        seq: integer,
        pm25: integerOrNull,
        pm10: integerOrNull,
        co2: integerOrNull,
        temperature: integerOrNull,
        humidity: integerOrNull,
        aqi: integerOrNull,
      }),
      description: 'what the leaf is made of; measured values in hundredths',
    },
    proof_url: { ...textOrNull, description: 'needs no key' },
  }),
  AreaBucket: object({
    start_time: time,
    readings: integer,
    aqi: object(aqiStatistics),
    measurements: measurementStatistics,
  }),
  Error: object({
    status: { const: 'error' },
    error: object({ code: text, message: text, details: { type: 'object' } }),
    request_id: text,
  }),
} as const

const failure = (description: string) => ({
  description,
  content: { 'application/json': { schema: ref('Error') } },
})

const responses = (description: string, schema: object, others: object = {}) => ({
  '200': { description, content: { 'application/json': { schema }, ...others } },
  '400': failure('a parameter is wrong: `details` names it and what would be right'),
  '401': failure('the API key is missing, wrong, revoked or expired'),
  '404': failure('there is no such sensor, area or address'),
  '429': failure('the quota of the day or of the minute is used: try again after Retry-After'),
  '503': failure('try again after the seconds in Retry-After'),
})

const otherFormats = {
  'text/csv': { schema: text },
  'application/x-ndjson': { schema: text },
  'application/geo+json': { schema: { type: 'object' } },
} as const

export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'airproof: air quality of a city',
    version: '1',
    description:
      'Every request carries Authorization: Bearer <API_KEY>. Each answer to it tells in RateLimit and X-RateLimit-* what is left of the quota. Times are UTC; what was not measured is null, never 0. Errors share one envelope, or are RFC 9457 problem details where Accept asks for them.',
  },
  security: [{ key: [] }],
  paths: {
    '/': {
      get: {
        operationId: 'root',
        summary: 'Where to go from here',
        security: [],
        responses: { '200': { description: 'addresses of this document and its page' } },
      },
    },
    '/v1/sensors': {
      get: {
        operationId: 'listSensors',
        summary: 'Sensors by id, with their status',
        parameters: [
          query('status', { enum: ['online', 'offline'] }, 'only these'),
          query('area', text, 'name, code or slug of an area in any case, or the network’s name'),
          query('bbox', text, 'west,south,east,north in degrees'),
          query('near', text, 'lat,lon in degrees, together with radius'),
          query('radius', number, 'metres around near, at most 200000'),
          limit(100),
          nextPage,
        ],
        responses: responses(
          'a page of sensors',
          object({
            status: success,
            count: integer,
            total: integer,
            next_cursor: cursor,
            sensors: arrayOf(ref('Sensor')),
          }),
        ),
      },
    },
    '/v1/sensors/{sensor_id}/status': {
      get: {
        operationId: 'sensorStatus',
        summary: 'One sensor as it is now',
        parameters: [path('sensor_id', 'the id, or its short form where that is unambiguous')],
        responses: responses(
          'the sensor',
          object({
            status: success,
            sensor_id: text,
            sensor_status: { enum: ['online', 'offline'] },
            last_reading: timeOrNull,
            silence_seconds: { ...integerOrNull, description: 'since it was last heard' },
            offline_since: timeOrNull,
            uptime_24h: number,
            commissioned_at: {
              ...text,
              description: 'when it began to stand somewhere; uptime counts from then',
            },
            expected_interval_seconds: number,
            latest: { oneOf: [ref('Reading'), { type: 'null' }] },
            aqi_nowcast: integerOrNull,
            aqi_24h: integerOrNull,
            pm25_corrected: {
              oneOf: [object({ value: number, unit: text, method: text }), { type: 'null' }],
              description:
                'PM2.5 of the latest reading by a published correction of low-cost sensors',
            },
            area: text,
            location,
          }),
        ),
      },
    },
    '/v1/readings': {
      get: {
        operationId: 'listReadings',
        summary: 'Readings, newest first',
        parameters: [
          query('sensor_id', text, 'of this sensor only'),
          startTime,
          endTime,
          query('shape', { enum: ['flat', 'nested'] }, 'only the fields of that shape'),
          query('format', { enum: ['json', 'csv', 'ndjson', 'geojson'] }, 'wins over Accept'),
          limit(10),
          nextPage,
        ],
        responses: responses(
          'a page of readings; the next one is also in the header Link',
          {
            type: 'object',
            required: ['status', 'count', 'next_cursor', 'readings'],
            properties: {
              status: success,
              sensor_id: { ...text, description: 'where one sensor was asked for' },
              count: integer,
              next_cursor: cursor,
              readings: arrayOf(ref('Reading')),
            },
          },
          otherFormats,
        ),
      },
    },
    '/v1/readings/{sensor_id}/verify': {
      get: {
        operationId: 'verifyReading',
        summary: 'Whether a reading is what was anchored on the blockchain',
        description: 'Looked up and recomputed for this request.',
        parameters: [sensorId, readingTime],
        responses: responses('how it stands', ref('Verification')),
      },
    },
    '/v1/readings/{sensor_id}/proof': {
      get: {
        operationId: 'proofOfReading',
        summary: 'The proof of a reading as one file that anyone can check offline',
        parameters: [sensorId, readingTime, hashPin],
        responses: { ...responses('the bundle', bundle), '409': failure('not what was anchored') },
      },
    },
    '/proof/{sensor_id}/{timestamp}': {
      get: {
        operationId: 'openProof',
        summary: 'The same without a key; for people a page that checks it in their browser',
        description: 'With .airproof.json at its end: the file to keep.',
        security: [],
        parameters: [sensorId, path('timestamp', 'of the reading'), hashPin],
        responses: {
          ...responses('the bundle, or a page', bundle, { 'text/html': { schema: text } }),
          '409': failure('not what was anchored'),
          '429': failure('too often from one address: try again after Retry-After'),
        },
      },
    },
    '/v1/areas': {
      get: {
        operationId: 'listAreas',
        summary: 'The areas of the network',
        responses: responses(
          'all areas',
          object({
            status: success,
            count: integer,
            network: areaBrief,
            areas: arrayOf(areaBrief),
          }),
        ),
      },
    },
    '/v1/areas/{area_name}': {
      get: {
        operationId: 'showArea',
        summary: 'Statistics of an area, of the last 24 hours unless asked otherwise',
        parameters: [
          path('area_name', 'name, code or slug in any case, or the network’s name'),
          startTime,
          endTime,
          query('interval', { enum: ['hour', 'day'] }, 'adds a series, empty steps left out'),
        ],
        responses: responses('the statistics', {
          ...object({
            status: success,
            area: object({ name: text, code: { type: ['string', 'null'] } }),
            period: object({ start_time: time, end_time: time }),
            sensors: sensorCounts,
            last_updated: timeOrNull,
            aqi: object({
              ...aqiStatistics,
              nowcast: {
                ...integerOrNull,
                description: 'null unless the period reaches the present',
              },
            }),
            measurements: measurementStatistics,
            basis: {
              enum: ['readings', 'hourly_means'],
              description: 'what median and p98 are taken over',
            },
            coverage: object({ expected: integer, observed: integer, percent: numberOrNull }),
            worst_sensor: {
              oneOf: [object({ sensor_id: text, aqi: integer, timestamp: time }), { type: 'null' }],
            },
          }),
        }),
      },
    },
    '/v1/aqi/scale': {
      get: {
        operationId: 'aqiScale',
        summary: 'The table that every index is made with',
        responses: responses(
          'the table',
          object({
            status: success,
            name: text,
            revision: text,
            highest: integer,
            categories: arrayOf({ type: 'object' }),
          }),
        ),
      },
    },
    ...usagePaths,
    ...webhookPaths,
    '/v1/openapi.json': {
      get: {
        operationId: 'openApi',
        summary: 'This document',
        security: [],
        responses: { '200': { description: 'OpenAPI 3.1' } },
      },
    },
    '/v1/docs': {
      get: {
        operationId: 'docs',
        summary: 'This document for people',
        security: [],
        responses: { '200': { description: 'a page' } },
      },
    },
  },
  webhooks: webhookCalls,
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    schemas: { ...schemas, ...webhookComponents },
  },
} as const
