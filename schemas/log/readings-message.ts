/**
 * The body of a READINGS message: JSON with one row an entry, so that 2,000 readings stay far
 * below 512 KB and any language can read the log. What the next worker needs without parsing is in
 * headers (`logHeaders`).
 */
import { Ajv } from 'ajv'
import type { FromSchema } from 'json-schema-to-ts'
import { nOfSeq, seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues } from '../../core/air/values.ts'
import type {
  ArrivedReading,
  Deferred,
  LogEvent,
  LogMessage,
  Refused,
} from '../../core/state/log-message.ts'

const integer = { type: 'integer' } as const
const integerOrNull = { type: ['integer', 'null'] } as const
const text = { type: 'string' } as const
const value = { ...integerOrNull, description: 'hundredths; null: not measured' } as const

const measured = [
  text, // sensor
  text, // area
  { ...integer, description: 'timeMs' },
  { ...integer, description: 'arrivedMs: broker time of the raw message' },
  ...([value, value, value, value, value] as const), // the basic five
  integerOrNull, // aqi
  { ...integer, description: 'flags' },
] as const

/** A row of exactly these columns. */
const row = <const Columns extends readonly object[]>(items: Columns) =>
  ({ type: 'array', items, minItems: items.length, additionalItems: false }) as {
    readonly type: 'array'
    readonly items: Columns
    readonly minItems: Columns['length']
    readonly additionalItems: false
  }

export const readingsMessageSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/readings-message',
  title: 'READINGS message',
  description: 'All that was decided about one batch of raw messages of a partition.',
  type: 'object',
  additionalProperties: false,
  required: ['v', 'listened', 'readings', 'events', 'held', 'deferred', 'refused', 'duplicates'],
  properties: {
    v: { const: 1 },
    listened: { ...integer, description: "ms of the partition's listening clock" },
    readings: { type: 'array', items: row([{ ...integer, description: 'n' }, ...measured]) },
    events: {
      type: 'array',
      items: {
        oneOf: [
          {
            type: 'object',
            additionalProperties: false,
            required: ['kind', 'place', 'from', 'to', 'previousAqi'],
            properties: {
              kind: { const: 'rise' },
              place: { ...integer, description: 'index in readings' },
              from: integer,
              to: integer,
              previousAqi: integerOrNull,
            },
          },
          {
            type: 'object',
            additionalProperties: false,
            required: ['kind', 'place', 'offlineSinceMs'],
            properties: {
              kind: { const: 'online' },
              place: integer,
              offlineSinceMs: integerOrNull,
            },
          },
          {
            type: 'object',
            additionalProperties: false,
            required: ['kind', 'sensor', 'lastReadingMs', 'offlineSinceMs', 'silenceMs'],
            properties: {
              kind: { const: 'offline' },
              sensor: text,
              lastReadingMs: integer,
              offlineSinceMs: integer,
              silenceMs: integer,
            },
          },
        ],
      },
    },
    held: { type: 'array', items: text },
    deferred: {
      type: 'array',
      items: row([
        { ...integer, description: 'rawSeq' },
        { ...integer, description: 'item' },
        ...measured,
      ]),
    },
    refused: {
      type: 'array',
      items: row([
        { ...integer, description: 'rawSeq' },
        { ...integer, description: 'item' },
        { ...text, description: 'reason' },
        { ...text, description: 'sensor of the subject' },
        { ...text, description: 'why' },
      ]),
    },
    duplicates: { type: 'array', items: row([text, integer]) },
  },
} as const

type Body = FromSchema<typeof readingsMessageSchema>

type Columns = Omit<ArrivedReading, 'seq'>

/** What version 1 has of a reading: exactly the basic five, in its middle. */
const columns = (r: Columns) => [
  r.sensor,
  r.area,
  r.timeMs,
  r.arrivedMs,
  ...r.values.slice(0, fewestValues),
  r.aqi,
  r.flags,
]

type Cell = number | null
type Row = readonly [
  sensor: string,
  area: string,
  timeMs: number,
  arrivedMs: number,
  ...values: [Cell, Cell, Cell, Cell, Cell],
  aqi: Cell,
  flags: number,
]

const columnsOf = ([sensor, area, timeMs, arrivedMs, ...rest]: Row): Columns => {
  const [pm25, pm10, co2, temperature, humidity, aqi, flags] = rest
  const values = [pm25, pm10, co2, temperature, humidity]
  return { sensor: idOf(sensor), area, timeMs, arrivedMs, values, aqi, flags }
}

/** What the headers of the message say; a body alone is not a message. */
export type LogHeader = Pick<
  LogMessage,
  'partition' | 'worker' | 'rawLast' | 'rawLastTimeMs' | 'nLast' | 'lateTo'
>

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function encodeReadings(message: LogMessage): Uint8Array {
  return encoder.encode(
    JSON.stringify({
      v: 1,
      listened: message.listenedMs,
      readings: message.readings.map((r) => [nOfSeq(r.seq), ...columns(r)]),
      events: message.events,
      held: message.held,
      deferred: message.deferred.map((r) => [r.rawSeq, r.item, ...columns(r)]),
      refused: message.refused.map((r) => [r.rawSeq, r.item, r.reason, r.sensor, r.why]),
      duplicates: message.duplicates,
    }),
  )
}

const isBody = new Ajv({ strict: true, allowUnionTypes: true }).compile<Body>(readingsMessageSchema)

/** The body of a READINGS message. @throws SyntaxError where the bytes are something else */
function parseBody(bytes: Uint8Array): Body {
  const body: unknown = JSON.parse(decoder.decode(bytes))
  if (!isBody(body)) {
    const [first] = isBody.errors ?? []
    throw new SyntaxError(
      `it is not a READINGS message: ${first?.instancePath ?? ''} ${first?.message ?? ''}`,
    )
  }
  return body
}

// of the log are messages of workers alone, and they wrote a checked id and a reason of the list
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const idOf = (sensor: string): SensorId => sensor as SensorId
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const reasonOf = (reason: string): Refused['reason'] => reason as Refused['reason']

/**
 * Whether the message follows from the one before is asked of `runtime/nats/log-messages.ts`.
 * @throws SyntaxError where the bytes are not the body of a READINGS message
 */
export function decodeReadings(header: LogHeader, bytes: Uint8Array): LogMessage {
  const body = parseBody(bytes)
  const { partition } = header
  return {
    ...header,
    listenedMs: body.listened,
    readings: body.readings.map(
      ([n, ...row]): ArrivedReading => ({ ...columnsOf(row), seq: seqOf(partition, n) }),
    ),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema's own cases
    events: body.events as readonly LogEvent[],
    held: body.held.map(idOf),
    deferred: body.deferred.map(
      ([rawSeq, item, ...row]): Deferred => ({ rawSeq, item, ...columnsOf(row) }),
    ),
    refused: body.refused.map(
      ([rawSeq, item, reason, sensor, why]): Refused => ({
        rawSeq,
        item,
        reason: reasonOf(reason),
        sensor,
        why,
      }),
    ),
    duplicates: body.duplicates.map(([sensor, count]) => [idOf(sensor), count] as const),
  }
}
