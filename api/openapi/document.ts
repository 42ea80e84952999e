/** /v1 for programs: OpenAPI 3.1. Tests check that it matches what the routes accept and return. */
import { airIndices, storedIndex } from '../../core/air/index/indices.ts'
import { qualityFilters } from '../../core/air/quality-level.ts'
import { changesPaths, changesSchemas } from './changes.ts'
import { failureResponses, failureSchemas, headers } from './failures.ts'
import { networkPaths, networkSchemas } from './network.ts'
import {
  answer,
  failures,
  hash,
  json,
  number,
  oneOf,
  openFailures,
  path,
  query,
  read,
  ref,
  sensorInPath,
  text,
  timeGiven,
} from './parts.ts'
import { answerSchemas } from './schemas.ts'
import { statisticsPaths, statisticsSchemas } from './statistics.ts'
import { streamPaths, streamSchemas, usagePaths, usageSchemas } from './usage.ts'
import { webhookSchemas } from './webhook-schemas.ts'
import { webhookCalls, webhookPaths } from './webhooks.ts'

const filled = { ...text, minLength: 1 } as const
const limit = (usual: number) =>
  query(
    'limit',
    { type: 'integer', minimum: 1, maximum: 1000, default: usual },
    `at most this many, 1 to 1000; ${usual} unless given`,
  )
const nextPage = query(
  'cursor',
  filled,
  'next_cursor of the page before, with the same other parameters',
)
const startTime = query('start_time', timeGiven, 'inclusive', { example: '2026-01-31T00:00:00Z' })
const endTime = query('end_time', timeGiven, 'exclusive, and later than start_time', {
  example: '2026-02-01T00:00:00Z',
})
const readingTime = query('timestamp', timeGiven, 'of the reading', {
  required: true,
  example: '2026-01-31T08:00:00.000Z',
})
const hashPin = query('hash', hash, 'answers 409 if the reading has another hash')
const sensorInQuery = query('sensor_id', filled, 'of this sensor only; the id or its short form', {
  example: 'NGR-LOS-IKJ-017',
})
const areaInQuery = query(
  'area',
  filled,
  'name, code or slug of an area in any case, or the network’s name; 404 if there is no such area',
  { example: 'Ikeja' },
)
const areaInPath = path(
  'area_name',
  'name, code or slug in any case, or the network’s name',
  'Ikeja',
)
const indexInQuery = query(
  'index',
  { ...oneOf(airIndices.map(({ name }) => name)), default: storedIndex.name },
  `the index of air quality that \`aqi\` and its categories are of: ${airIndices.map(({ name, title }) => `${name}, ${title}`).join('; ')}`,
)
const boxInQuery = query(
  'bbox',
  text,
  'west,south,east,north in degrees; an east above 180 spans the antimeridian; 400 if it misses the network and would not with latitude and longitude swapped',
  { example: '3.3,6.4,3.5,6.7' },
)

const qualityInQuery = query(
  'quality',
  // a default would be sent by generated clients, also where nothing goes with it
  oneOf(qualityFilters),
  'good: only readings of that level; suspect: those and suspect ones; all, as without it: every one; a page of readings then has `left_out`, and may be short: continue until next_cursor is null',
)

const correctionsInQuery = query(
  'corrections',
  { ...text, minLength: 1 },
  'adds corrected values by these models, between commas; /v1/corrections has them',
  { example: 'epa_2021_ext' },
)

const format = query('format', oneOf(['json', 'csv', 'ndjson', 'geojson']), 'wins over Accept')
const tables = (geojson: string) => ({
  'text/csv': { schema: text },
  'application/x-ndjson': { schema: text },
  'application/geo+json': { schema: ref(geojson) },
})

const html = { 'text/html': { schema: text } } as const
const open = { isOpen: true } as const

export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'airproof: air quality of a city',
    version: '1',
    summary:
      'Readings of a city’s air-quality sensors, with proofs, statistics, a stream and webhooks.',
    description:
      'Every request carries Authorization: Bearer <API_KEY>, unless its operation says otherwise. Each answer to it carries what is left of the quota in RateLimit and X-RateLimit-*. Times are UTC with milliseconds; what was not measured is null, never 0. Every GET answers HEAD too. Errors share one envelope, or are RFC 9457 problem details if Accept asks for them. Fields, events and codes may be added: ignore what you do not know.',
    license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/', description: 'the server that this document is from' }],
  security: [{ key: [] }],
  tags: [
    { name: 'sensors', description: 'What is measured where, and whether its readings arrive' },
    { name: 'readings', description: 'What was measured' },
    { name: 'proofs', description: 'Whether a reading is what was anchored on the blockchain' },
    { name: 'areas', description: 'Statistics of a part of the city' },
    { name: 'statistics', description: 'What was measured, by hour, day, month or year' },
    { name: 'stream', description: 'What happens, as it happens' },
    { name: 'webhooks', description: 'What happens, sent to an address of yours (premium)' },
    { name: 'account', description: 'What your account has used' },
    { name: 'reference', description: 'The tables of the indices, and this document' },
  ],
  paths: {
    '/': {
      get: {
        operationId: 'root',
        tags: ['reference'],
        summary: 'Where to go from here',
        description: 'Addresses of this document and its page.',
        security: [],
        responses: {
          ...read('the addresses', { ...json(ref('Start')), ...html }, open),
          ...openFailures(),
        },
      },
    },
    '/v1/sensors': {
      get: {
        operationId: 'listSensors',
        tags: ['sensors'],
        summary: 'Sensors by id, with their status',
        description:
          'Sensors that are in use. Several filters must all fit. With include=latest each has its latest reading, in JSON, CSV, NDJSON or GeoJSON; `fields`, `ids`, `modified_since`, `format`, `quality` and `corrections` need it.',
        parameters: [
          query('status', oneOf(['online', 'offline']), 'only these'),
          areaInQuery,
          boxInQuery,
          query(
            'near',
            text,
            'lat,lon in degrees; needs radius, but not with include=latest, which then sorts by distance',
            { example: '6.6018,3.3515' },
          ),
          query(
            'radius',
            { ...number, exclusiveMinimum: 0, maximum: 200_000 },
            'metres around near, which is required; at most 200000',
            { example: 2_000 },
          ),
          limit(100),
          nextPage,
          indexInQuery,
          query('include', oneOf(['latest']), 'adds the latest reading of each'),
          query('fields', filled, 'only these, in this order, between commas', {
            example: 'id,last_reading,pm25',
          }),
          query('ids', filled, 'only these sensors, between commas; at most 200, all in use', {
            example: 'NGR-LOS-IKJ-017',
          }),
          query(
            'modified_since',
            timeGiven,
            'only those whose latest reading arrived, or whose registry entry was written, at that time or later',
            { example: '2026-01-31T08:00:00Z' },
          ),
          format,
          qualityInQuery,
          correctionsInQuery,
        ],
        responses: {
          ...read(
            'a page of sensors',
            {
              ...json({ anyOf: [ref('SensorsPage'), ref('PickedSensorsPage')] }),
              ...tables('SensorsGeoJson'),
            },
            { more: ['Link'] },
          ),
          ...failures(404),
        },
      },
    },
    '/v1/sensors/{sensor_id}': {
      get: {
        operationId: 'showSensor',
        tags: ['sensors'],
        summary: 'One sensor: its device, its owner, and where it was when',
        description: 'Also one that was retired.',
        parameters: [sensorInPath, indexInQuery],
        responses: { ...read('the sensor', json(ref('SensorPage'))), ...failures(404) },
      },
    },
    '/v1/sensors/{sensor_id}/status': {
      get: {
        operationId: 'sensorStatus',
        tags: ['sensors'],
        summary: 'One sensor as it is now',
        description: 'Also one that was retired; its `sensor_status` is offline.',
        parameters: [sensorInPath, indexInQuery],
        responses: { ...read('the sensor', json(ref('SensorStatus'))), ...failures(404) },
      },
    },
    '/v1/readings': {
      get: {
        operationId: 'listReadings',
        tags: ['readings'],
        summary: 'Readings, newest first or oldest first',
        description:
          'Without `shape` a reading has everything that both shapes have. `format` wins over Accept. CSV has all columns and takes no `shape`.',
        parameters: [
          sensorInQuery,
          startTime,
          endTime,
          query('shape', oneOf(['flat', 'nested']), 'only the fields of that shape; not with CSV'),
          format,
          limit(10),
          nextPage,
          indexInQuery,
          query(
            'order',
            { ...oneOf(['desc', 'asc']), default: 'desc' },
            'by time: newest first, or oldest first; a cursor goes on in its own order only',
          ),
          qualityInQuery,
          correctionsInQuery,
        ],
        responses: {
          ...read(
            'a page of readings in the requested shape',
            {
              ...json({
                anyOf: [ref('ReadingsPage'), ref('FlatReadingsPage'), ref('NestedReadingsPage')],
              }),
              ...tables('ReadingsGeoJson'),
            },
            { more: ['Link'] },
          ),
          ...failures(404),
        },
      },
    },
    ...changesPaths(
      { sensor: sensorInQuery, area: areaInQuery, format, index: indexInQuery },
      tables('ReadingsGeoJson'),
    ),
    '/v1/readings/{sensor_id}/verify': {
      get: {
        operationId: 'verifyReading',
        tags: ['proofs'],
        summary: 'Whether a reading is what was anchored on the blockchain',
        description: 'Looked up and recomputed for this request.',
        parameters: [sensorInPath, readingTime],
        responses: {
          '200': answer('the state of its proof', json(ref('Verification'))),
          ...failures(404),
        },
      },
    },
    '/v1/readings/{sensor_id}/proof': {
      get: {
        operationId: 'proofOfReading',
        tags: ['proofs'],
        summary: 'The proof of a reading as one file that anyone can check offline',
        description: 'A bundle; docs/proofs.md says how to check it.',
        parameters: [sensorInPath, readingTime, hashPin],
        responses: {
          ...read('the bundle', json(ref('ProofBundle'))),
          ...failures(404, 409),
        },
      },
    },
    '/proof/{sensor_id}/{timestamp}': {
      get: {
        operationId: 'openProof',
        tags: ['proofs'],
        summary: 'The same without a key; for people a page that checks it in their browser',
        description: 'With .airproof.json at its end: the file to keep.',
        security: [],
        parameters: [
          sensorInPath,
          path('timestamp', 'of the reading', '2026-01-31T08:00:00.000Z'),
          hashPin,
        ],
        responses: {
          ...read(
            'the bundle, or a page',
            { ...json(ref('ProofBundle')), ...html },
            { isOpen: true },
          ),
          ...openFailures(404, 409, 429, 503),
        },
      },
    },
    '/proof/airproof-verify.js': {
      get: {
        operationId: 'verifier',
        tags: ['proofs'],
        summary: 'The standalone verifier, one file that imports nothing',
        description: '`node airproof-verify.js FILE`, or in a page.',
        security: [],
        responses: {
          ...read('the program', { 'text/javascript': { schema: text } }, open),
          ...openFailures(),
        },
      },
    },
    ...networkPaths,
    '/v1/areas': {
      get: {
        operationId: 'listAreas',
        tags: ['areas'],
        summary: 'The areas of the network',
        description: 'And the network as a whole.',
        responses: { ...read('all areas', json(ref('Areas'))), ...failures() },
      },
    },
    '/v1/areas/{area_name}': {
      get: {
        operationId: 'showArea',
        tags: ['areas'],
        summary: 'Statistics of an area, of the last 24 hours unless a period is given',
        description: 'A period of at most 1,830 days, of at most 93 with interval=hour.',
        parameters: [
          areaInPath,
          startTime,
          endTime,
          query('interval', oneOf(['hour', 'day']), 'adds `series`, in steps of UTC'),
          indexInQuery,
        ],
        responses: {
          ...read('the statistics', json(ref('AreaStatistics'))),
          ...failures(404),
        },
      },
    },
    ...statisticsPaths({
      sensorInPath,
      areaInPath,
      boxInQuery,
      indexInQuery,
      correctionsInQuery,
      startTime,
      endTime,
      nextPage,
    }),
    '/v1/corrections': {
      get: {
        operationId: 'listCorrections',
        tags: ['reference'],
        summary: 'The models by which readings can be corrected',
        description: 'With their coefficients, ranges, sources and hashes.',
        responses: { ...read('the models', json(ref('Corrections'))), ...failures() },
      },
    },
    '/v1/aqi/scale': {
      get: {
        operationId: 'aqiScale',
        tags: ['reference'],
        summary: 'The table that an index is made with',
        description: 'With its colours.',
        parameters: [indexInQuery],
        responses: {
          ...read('the table', json(ref('AqiScale'))),
          ...failures(),
        },
      },
    },
    ...usagePaths,
    ...streamPaths(areaInQuery, boxInQuery),
    ...webhookPaths,
    '/v1/openapi.json': {
      get: {
        operationId: 'openApi',
        tags: ['reference'],
        summary: 'This document',
        description: 'OpenAPI 3.1.',
        security: [],
        responses: {
          ...read('the document', json({ type: 'object', additionalProperties: true }), open),
          ...openFailures(),
        },
      },
    },
    '/v1/docs': {
      get: {
        operationId: 'docs',
        tags: ['reference'],
        summary: 'This document for people',
        description: 'A page that needs no other host.',
        security: [],
        responses: { ...read('a page', html, open), ...openFailures() },
      },
    },
  },
  webhooks: webhookCalls,
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'an API key, aqk_…' } },
    headers,
    responses: failureResponses,
    schemas: {
      ...answerSchemas,
      ...networkSchemas,
      ...statisticsSchemas,
      ...usageSchemas,
      ...streamSchemas,
      ...changesSchemas,
      ...webhookSchemas,
      ...failureSchemas,
    },
  },
} as const
