/**
 * The body of a READINGS message: JSON with one row an entry, so that 2,000 readings stay far
 * below 512 KB and any language can read the log. What the next worker needs without parsing is in
 * headers (`logHeaders`).
 */

import type { FromSchema } from 'json-schema-to-ts'
import { nOfSeq, seqOf } from '../../core/air/reading.ts'
import type { Deferred, LogEvent, LogMessage, Refused } from '../../core/state/log-message.ts'
import { checkOf } from '../check.ts'
import type { FormatLevel } from '../format-level.ts'
import { assertKnown } from '../formats.ts'
import {
  type Columns,
  idOf,
  integer,
  integerOrNull,
  type RowV1,
  type RowV2,
  rowsV1,
  rowsV2,
  text,
} from './readings-rows.ts'

/** A row of exactly these columns. */
const row = <const Columns extends readonly object[]>(items: Columns) =>
  ({ type: 'array', items, minItems: items.length, additionalItems: false }) as {
    readonly type: 'array'
    readonly items: Columns
    readonly minItems: Columns['length']
    readonly additionalItems: false
  }

const rawPlace = [
  { ...integer, description: 'rawSeq' },
  { ...integer, description: 'item' },
] as const

/** Everything in a message but its readings, which is the same in both versions. */
const rest = {
  listened: { ...integer, description: "ms of the partition's listening clock" },
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
  refused: {
    type: 'array',
    items: row([
      ...rawPlace,
      { ...text, description: 'reason' },
      { ...text, description: 'sensor of the subject' },
      { ...text, description: 'why' },
    ]),
  },
  duplicates: { type: 'array', items: row([text, integer]) },
} as const

const schemaOf = <const Version extends number, const Items extends readonly object[]>(
  version: Version,
  items: Items,
) =>
  ({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `airproof/readings-message/v${version}`,
    title: `READINGS message, version ${version}`,
    description: 'All that was decided about one batch of raw messages of a partition.',
    type: 'object',
    additionalProperties: false,
    required: ['v', 'listened', 'readings', 'events', 'held', 'deferred', 'refused', 'duplicates'],
    properties: {
      v: { const: version },
      ...rest,
      readings: { type: 'array', items: row([{ ...integer, description: 'n' }, ...items]) },
      deferred: { type: 'array', items: row([...rawPlace, ...items]) },
    },
  }) as const

export const readingsSchemaV1 = schemaOf(1, rowsV1.items)
export const readingsMessageSchema = schemaOf(2, rowsV2.items)

type Rest = FromSchema<{
  readonly type: 'object'
  readonly additionalProperties: false
  readonly required: readonly ['listened', 'events', 'held', 'refused', 'duplicates']
  readonly properties: typeof rest
}>
/** As it is in JSON. */
type Body<Version extends number, Row extends readonly unknown[]> = Rest & {
  readonly v: Version
  readonly readings: readonly (readonly [n: number, ...Row])[]
  readonly deferred: readonly (readonly [rawSeq: number, item: number, ...Row])[]
}

/** What the headers of the message say; a body alone is not a message. */
export type LogHeader = Pick<
  LogMessage,
  'partition' | 'worker' | 'rawLast' | 'rawLastTimeMs' | 'nLast' | 'lateTo'
>

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** @param level 1 writes version 1, which holds the basic five alone: others must not be taken then */
export function encodeReadings(message: LogMessage, level: FormatLevel): Uint8Array {
  const { write } = level === 1 ? rowsV1 : rowsV2
  return encoder.encode(
    JSON.stringify({
      v: level === 1 ? 1 : 2,
      listened: message.listenedMs,
      readings: message.readings.map((r) => [nOfSeq(r.seq), ...write(r)]),
      events: message.events,
      held: message.held,
      deferred: message.deferred.map((r) => [r.rawSeq, r.item, ...write(r)]),
      refused: message.refused.map((r) => [r.rawSeq, r.item, r.reason, r.sensor, r.why]),
      duplicates: message.duplicates,
    }),
  )
}

const isV1 = checkOf<Body<1, RowV1>>(readingsSchemaV1)
const isV2 = checkOf<Body<2, RowV2>>(readingsMessageSchema)

/**
 * The body of a READINGS message, its rows read by its version.
 * @throws SyntaxError the bytes are something else  @throws NewerFormat
 */
function parseBody(bytes: Uint8Array, partition: number) {
  const body: unknown = JSON.parse(decoder.decode(bytes))
  const v = typeof body === 'object' && body !== null && 'v' in body ? body.v : undefined
  if (typeof v === 'number') assertKnown('readings', v)
  if (isV2(body)) return { ...body, ...rowsOf(body, rowsV2.read, partition) }
  if (v !== 2 && isV1(body)) return { ...body, ...rowsOf(body, rowsV1.read, partition) }
  const [first] = (v === 2 ? isV2 : isV1).errors ?? []
  throw new SyntaxError(
    `it is not a READINGS message: ${first?.instancePath ?? ''} ${first?.message ?? ''}`,
  )
}

const rowsOf = <Row extends readonly unknown[]>(
  { readings, deferred }: Pick<Body<number, Row>, 'readings' | 'deferred'>,
  read: (row: Row) => Columns,
  partition: number,
): Pick<LogMessage, 'readings' | 'deferred'> => ({
  readings: readings.map(([n, ...row]) => Object.assign(read(row), { seq: seqOf(partition, n) })),
  deferred: deferred.map(([rawSeq, item, ...row]): Deferred => ({ rawSeq, item, ...read(row) })),
})

// of the log are messages of workers alone, and they wrote a reason of the list
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const reasonOf = (reason: string): Refused['reason'] => reason as Refused['reason']

/**
 * Whether the message follows from the one before is asked of `runtime/nats/log-messages.ts`.
 * @throws SyntaxError the bytes are not the body of a READINGS message  @throws NewerFormat
 */
export function decodeReadings(header: LogHeader, bytes: Uint8Array): LogMessage {
  const body = parseBody(bytes, header.partition)
  return {
    ...header,
    listenedMs: body.listened,
    readings: body.readings,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema's own cases
    events: body.events as readonly LogEvent[],
    held: body.held.map(idOf),
    deferred: body.deferred,
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
