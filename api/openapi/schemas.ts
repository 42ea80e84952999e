/** Answers about sensors, readings, proofs and areas: parts of the OpenAPI document. */
import { pollutants } from '../../core/air/index/air-index.ts'
import { airIndices, storedIndex } from '../../core/air/index/indices.ts'
import { flagNames } from '../../core/air/quality.ts'
import { qualityLevels } from '../../core/air/quality-level.ts'
import { type Quantity, quantities, quantityNames } from '../../core/air/quantities.ts'
import { fewestValues } from '../../core/air/values.ts'
import { leafNow } from '../../core/proof/leaf.ts'
import {
  arrayOf,
  cursor,
  hash,
  integer,
  integerOrNull,
  nullable,
  number,
  numberOrNull,
  object,
  oneOf,
  ref,
  success,
  text,
  textOrNull,
  time,
  timeOrNull,
  yes,
} from './parts.ts'

const categories = airIndices.flatMap(({ bands }) => bands.map((band) => band.category))
const category = nullable(ref('AqiCategory'))
const pollutant = nullable(ref('Pollutant'))
const qualityLevel = oneOf(qualityLevels)
/** Not an enum: a later version has more of them. */
const qualityFlags = {
  ...arrayOf(text),
  description: `flags about the values; some may be added: ${flagNames.join(', ')}`,
} as const
const sensorId = { ...text, description: 'NGR-LOS-{AREA}-{NUMBER}' } as const

/** The quantities in every answer, and those present only if they were measured. */
const byName = (schemaOf: (quantity: Quantity) => object) => {
  const entries = quantities.map((quantity) => [quantity.name, schemaOf(quantity)] as const)
  return {
    basic: Object.fromEntries(entries.slice(0, fewestValues)),
    others: Object.fromEntries(entries.slice(fewestValues)),
  }
}
const measured = byName(({ unit }) => ({ ...numberOrNull, description: unit }))
const statistics = byName(() => ref('FieldStatistics'))

const aqi = {
  ...integerOrNull,
  description: `of this reading alone, by the index that \`index\` names: ${storedIndex.title} unless given`,
} as const
const txHash = { ...textOrNull, description: 'of the transaction that anchors its batch' } as const
const reading = {
  sensor_id: sensorId,
  timestamp: time,
  aqi,
} as const

const sensor = {
  id: sensorId,
  area: text,
  location: ref('Location'),
  status: ref('Presence'),
  last_reading: timeOrNull,
  uptime_24h: { type: 'number', minimum: 0, maximum: 1 },
  aqi: { ...integerOrNull, description: 'of its newest reading' },
} as const
const correctedValues = {
  type: 'object',
  description: 'by model and quantity, if `corrections` was given',
} as const
export const correctionsUsed = {
  ...arrayOf(ref('CorrectionUsed')),
  description: 'the models that `corrections` names',
} as const
const latest = {
  aqi_category: category,
  dominant_pollutant: pollutant,
  beyond_index: yes,
  quality: qualityFlags,
  quality_level: { ...nullable(qualityLevel), description: 'of the worst of the flags' },
  ...measured.basic,
  ...measured.others,
  modified_at: {
    ...time,
    description: 'when its latest reading arrived, or its registry entry was written',
  },
  silence_seconds: { ...integerOrNull, description: 'since its last reading arrived' },
  distance_m: { ...integer, description: 'from `near`' },
  corrections: correctedValues,
} as const
const standing = {
  retired: { ...yes, description: 'true: it was taken out of the network; its readings stay' },
  retired_at: timeOrNull,
  commissioned_at: { ...time, description: 'when it became part of the network' },
  expected_interval_seconds: number,
} as const

const point = object({
  type: { type: 'string', const: 'Point' },
  coordinates: { ...arrayOf(number), minItems: 2, maxItems: 2, description: 'lon, lat' },
})
const collectionOf = (geometry: object, properties: object) =>
  object(
    {
      type: { type: 'string', const: 'FeatureCollection' },
      features: arrayOf(
        object({ type: { type: 'string', const: 'Feature' }, geometry, properties }),
      ),
    },
    { corrections: correctionsUsed },
  )

const proofStatus = {
  ...oneOf(['pending', 'anchoring', 'verified', 'mismatch']),
  description:
    'in no batch yet; in one that is not final yet, or that was not checked for 5 minutes; anchored; not what was anchored',
} as const

const range = object({
  low: number,
  high: { ...numberOrNull, description: 'null: the worst band has no end' },
  unit: text,
})
export const leftOut = {
  ...integerOrNull,
  description:
    'readings that are in no number here, because they failed or by `quality`; null: not known, an earlier version wrote it with those that failed',
} as const
const sensorCounts = object({ total: integer, online: integer, offline: integer })
const reportingCounts = object({
  reporting: {
    ...integer,
    description:
      'sent a fresh reading within three of their intervals, by the clock: `online` changes later in an outage of many sensors',
  },
  never_reported: {
    ...integer,
    description: 'registered, and no reading of them was accepted yet',
  },
})
const aqiStatistics = {
  average: numberOrNull,
  median: numberOrNull,
  min: integerOrNull,
  max: integerOrNull,
  category,
  dominant_pollutant: pollutant,
} as const
const areaCode = { ...textOrNull, description: 'the AREA part of its sensors’ ids' } as const

/** A page of readings in one shape. */
const page = (item: string) => ({
  ...object(
    { status: success, count: integer, next_cursor: cursor, readings: arrayOf(ref(item)) },
    {
      sensor_id: { ...sensorId, description: 'if one sensor was requested' },
      left_out: { ...integer, description: 'by `quality`, if it was given' },
      corrections: correctionsUsed,
    },
  ),
})

const sensorsPage = (item: string) =>
  object(
    {
      status: success,
      count: integer,
      total: { ...integer, description: 'of all pages' },
      next_cursor: cursor,
      sensors: arrayOf(ref(item)),
    },
    { corrections: correctionsUsed },
  )

const exampleReading = {
  sensor_id: 'NGR-LOS-IKJ-017',
  timestamp: '2026-01-31T08:00:00.000Z',
  pm25: 41.2,
  pm10: 63,
  co2: 431,
  temperature: 28.5,
  humidity: 70,
  aqi: 115,
  blockchain_tx: null,
}

export const answerSchemas = {
  AqiCategory: oneOf([...new Set(categories)]),
  Pollutant: oneOf(pollutants),
  Presence: oneOf(['online', 'offline']),
  Location: object({ lat: number, lon: number, address: text }),
  Sensor: {
    ...object(sensor, latest),
    description: 'after `aqi`: only with include=latest',
    examples: [
      {
        id: 'NGR-LOS-IKJ-017',
        area: 'Ikeja',
        location: { lat: 6.6018, lon: 3.3515, address: '12 Allen Avenue, Ikeja' },
        status: 'online',
        last_reading: '2026-01-31T08:00:00.000Z',
        uptime_24h: 0.98,
        aqi: 115,
      },
    ],
  },
  SensorsPage: sensorsPage('Sensor'),
  PickedSensor: {
    ...object(
      {},
      {
        ...sensor,
        ...latest,
        aqi_nowcast: { ...integerOrNull, description: 'of now, as the index defines it' },
        aqi_24h: { ...integerOrNull, description: 'of the means of the last 24 hours' },
      },
    ),
    description: 'a sensor with the fields that `fields` names',
  },
  PickedSensorsPage: sensorsPage('PickedSensor'),
  SensorsGeoJson: collectionOf(point, { anyOf: [ref('Sensor'), ref('PickedSensor')] }),
  SensorPage: object({ status: success, sensor: ref('SensorDetails') }),
  SensorDetails: object({
    ...sensor,
    ...standing,
    make: { ...textOrNull, description: 'who made the device; null: not known, as with the next' },
    model: { ...textOrNull, description: 'what its maker calls it' },
    indoor: { type: ['boolean', 'null'], description: 'true: it measures the air of a room' },
    height_m: { ...numberOrNull, description: 'above the ground' },
    licence: { ...textOrNull, description: 'of its data; null: that of the network, /v1/network' },
    owner: { ...textOrNull, description: 'whom to name' },
    sites: {
      ...arrayOf(
        object({
          from: time,
          until: { ...timeOrNull, description: 'null: it is there now' },
          area: text,
          lat: number,
          lon: number,
        }),
      ),
      description: 'where it was from when on, oldest first',
    },
  }),
  SensorStatus: object({
    status: success,
    sensor_id: sensorId,
    sensor_status: ref('Presence'),
    ...standing,
    last_reading: timeOrNull,
    silence_seconds: { ...integerOrNull, description: 'since its last reading arrived' },
    offline_since: timeOrNull,
    uptime_24h: number,
    latest: nullable(ref('Reading')),
    aqi_nowcast: { ...integerOrNull, description: 'of now, as the index defines it' },
    aqi_24h: { ...integerOrNull, description: 'of the 24-hour means' },
    quality_level: { ...qualityLevel, description: 'of the sensor, by its fresh readings' },
    left_out_24h: {
      ...integer,
      description:
        'readings of the last 24 clock hours that have failed, and are in neither of both',
    },
    pm25_corrected: {
      ...nullable(object({ value: number, unit: text, method: text })),
      description: 'PM2.5 of the latest reading by a published correction of low-cost sensors',
    },
    area: text,
    location: ref('Location'),
  }),
  Blockchain: object({
    hash,
    verified: {
      ...yes,
      description: 'its batch is final on the chain; /verify recomputes it from the row',
    },
    tx_hash: txHash,
    status: proofStatus,
  }),
  Measurements: object(measured.basic, measured.others),
  Reading: {
    ...object(
      {
        ...reading,
        ...measured.basic,
        measurements: ref('Measurements'),
        aqi_category: category,
        dominant_pollutant: pollutant,
        beyond_index: {
          ...yes,
          description: 'above the table of the index; that of the US EPA ends at 500',
        },
        quality: qualityFlags,
        quality_level: { ...qualityLevel, description: 'of the worst of the flags' },
        blockchain: ref('Blockchain'),
        blockchain_tx: txHash,
      },
      {
        ...measured.others,
        corrections: correctedValues,
      },
    ),
    description: 'a reading with everything that the two shapes have',
  },
  CorrectionUsed: object({ name: text, version: integer, hash }),
  Corrections: object({
    status: success,
    count: integer,
    corrections: arrayOf(
      object(
        {
          name: text,
          version: integer,
          title: text,
          citation: text,
          of: text,
          range: { type: 'object', description: 'quantity → its lowest and highest value' },
          pieces: {
            ...arrayOf({ type: 'object' }),
            description: 'by `below`: the sum of `times` × the values to the powers named',
          },
          hash: { ...hash, description: 'SHA-256 of the model as JSON, keys sorted, without this' },
        },
        { kinds: { ...arrayOf(text), description: 'devices that it was fitted to' } },
      ),
    ),
  }),
  FlatReading: {
    ...object({ ...reading, ...measured.basic, blockchain_tx: txHash }, measured.others),
    description: 'a reading with shape=flat',
    examples: [exampleReading],
  },
  NestedReading: {
    ...object({
      ...reading,
      measurements: ref('Measurements'),
      aqi_category: category,
      blockchain: ref('Blockchain'),
    }),
    description: 'a reading with shape=nested',
  },
  ReadingsPage: page('Reading'),
  FlatReadingsPage: page('FlatReading'),
  NestedReadingsPage: page('NestedReading'),
  ReadingsGeoJson: collectionOf(nullable(point), {
    anyOf: [ref('Reading'), ref('FlatReading'), ref('NestedReading')],
  }),
  Verification: object({
    status: proofStatus,
    sensor_id: sensorId,
    timestamp: time,
    reason: { ...textOrNull, description: 'why it is anchoring or a mismatch, for programs' },
    reading_hash: { ...hash, description: 'the leaf, recomputed from the stored row' },
    merkle_root: textOrNull,
    ledger_tx: {
      ...textOrNull,
      description:
        'the transaction for people: in an explorer, otherwise our page about the reading',
    },
    verified_at: { ...timeOrNull, description: 'now, if it is verified' },
    anchored_at: { ...timeOrNull, description: 'time of the block' },
    expected_by: { ...timeOrNull, description: 'when it should be final on the chain' },
    chain_checked_at: { ...timeOrNull, description: 'when the chain was last checked' },
    merkle_proof: nullable(
      object({ root: hash, path: arrayOf(hash), leaf_index: integer, leaf_count: integer }),
    ),
    ledger: nullable(
      object({
        tx_hash: hash,
        explorer_url: text,
        chain_id: integerOrNull,
        demonstration: {
          type: ['boolean', 'null'],
          description: 'the operator runs this chain, so it proves nothing about time',
        },
        contract: textOrNull,
        block_number: integerOrNull,
        block_hash: textOrNull,
        finalized: nullable(object({ block_number: integer, block_hash: hash })),
      }),
    ),
    batch: nullable(object({ index: integer, first: integer, last: integer, sealed_at: time })),
    reading: {
      ...object(
        {
          sensor_id: text,
          time_ms: integer,
          seq: integer,
          ...Object.fromEntries(leafNow.values.map((name) => [name, integerOrNull])),
          aqi: integerOrNull,
        },
        {
          leaf_version: { ...integer, description: '2; absent: 1' },
          area: text,
          flags: integer,
          device: {
            ...textOrNull,
            description: 'hash of key and signature of a device that signs',
          },
          ...Object.fromEntries(quantityNames.slice(fewestValues).map((name) => [name, integer])),
        },
      ),
      description: 'what the leaf is made of; measured values in hundredths',
    },
    proof_url: { ...textOrNull, description: 'a complete address that needs no key, to share' },
  }),
  ProofBundle: {
    type: 'object',
    additionalProperties: true,
    description: 'airproof.proof.v1 or v2, as docs/proofs.md describes them',
  },
  SensorCounts: sensorCounts,
  ReportingCounts: reportingCounts,
  AreaBrief: object({
    name: text,
    code: areaCode,
    slug: text,
    sensors: ref('SensorCounts'),
    presence: ref('ReportingCounts'),
    last_updated: timeOrNull,
  }),
  Areas: object({
    status: success,
    count: integer,
    network: ref('AreaBrief'),
    areas: arrayOf(ref('AreaBrief')),
  }),
  FieldStatistics: object({
    avg: numberOrNull,
    min: numberOrNull,
    max: numberOrNull,
    median: numberOrNull,
    p98: numberOrNull,
    unit: text,
  }),
  MeasurementStatistics: object(statistics.basic, statistics.others),
  AqiStatistics: object(aqiStatistics),
  AreaStatistics: object(
    {
      status: success,
      area: object({ name: text, code: areaCode }),
      period: object({ start_time: time, end_time: time }),
      sensors: ref('SensorCounts'),
      presence: ref('ReportingCounts'),
      last_updated: timeOrNull,
      aqi: object({
        ...aqiStatistics,
        nowcast: { ...integerOrNull, description: 'null unless the period reaches the present' },
        nowcast_left_out: {
          ...integerOrNull,
          description:
            'readings of the last 24 clock hours that have failed, and are not in `nowcast`',
        },
      }),
      measurements: ref('MeasurementStatistics'),
      basis: {
        ...oneOf(['readings', 'hourly_means']),
        description: 'what median and p98 are taken over',
      },
      coverage: object({ expected: integer, observed: integer, percent: numberOrNull }),
      left_out: leftOut,
      worst_sensor: nullable(object({ sensor_id: text, aqi: integer, timestamp: time })),
    },
    {
      interval: { ...oneOf(['hour', 'day']), description: 'as requested' },
      series: {
        ...arrayOf(ref('AreaBucket')),
        description: 'if an interval was requested; steps without readings are left out',
      },
    },
  ),
  AreaBucket: object({
    start_time: time,
    readings: integer,
    left_out: leftOut,
    aqi: ref('AqiStatistics'),
    measurements: ref('MeasurementStatistics'),
  }),
  AqiScale: object({
    status: success,
    name: text,
    revision: { ...text, description: 'of the table: the day, or only the year' },
    averaging_hours: { ...integer, description: 'the index is defined for means over this many' },
    highest: integer,
    categories: arrayOf(ref('AqiBand')),
  }),
  AqiBand: object({
    category: ref('AqiCategory'),
    aqi: object({ low: integer, high: integer }),
    pm25: range,
    pm10: range,
    color: { ...text, description: 'as the institution that publishes the index shows it' },
    color_vision: {
      ...text,
      description:
        'for people with colour vision deficiency: neighbours differ by CIEDE2000 18 or more',
    },
  }),
  Start: object({ status: success, docs: text, openapi: text }),
} as const
