/**
 * The body of a READINGS message: JSON with one row an entry, so that 2,000 readings stay far
 * below 512 KB and any language can read the log. What the next worker needs without parsing is in
 * headers (`logHeaders`). A reading in version 2 and 3, whose first values are PM2.5 and PM10:
 *
 *     [n, sensor, area, timeMs, arrivedMs, aqi, flags, values]
 *     [4711, "NGR-LOS-IKJ-001", "Ikeja", 1763712000000, 1763712000345, 69, 0, [1850, 2400, null, null, null]]
 */

import type { FromSchema } from 'json-schema-to-ts'
import { qualityLevels } from '../../core/air/quality-level.ts'
import { nOfSeq, seqOf } from '../../core/air/reading.ts'
import type {
  Deferred,
  LogEvent,
  LogMessage,
  NeighbourVerdict,
  Refused,
} from '../../core/state/log-message.ts'
import { type RulesVersion, rulesNow } from '../../core/state/quality-rules.ts'
import { checkOf } from '../check.ts'
import type { FormatLevel } from '../format-level.ts'
import { assertKnown, formats, NewerFormat } from '../formats.ts'
import {
  addSignatures,
  idOf,
  integer,
  integerOrNull,
  type Rows,
  type RowV1,
  type RowV2,
  rowsV1,
  rowsV2,
  rowsV3,
  type SignedRow,
  signedItems,
  signedRows,
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

/** By kind: one without a schema would be written, and could not be read again. */
const events = {
  rise: {
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
  online: {
    type: 'object',
    additionalProperties: false,
    required: ['kind', 'place', 'offlineSinceMs'],
    properties: { kind: { const: 'online' }, place: integer, offlineSinceMs: integerOrNull },
  },
  offline: {
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
  quality: {
    type: 'object',
    additionalProperties: false,
    required: ['kind', 'place', 'from', 'to'],
    properties: {
      kind: { const: 'quality' },
      place: integer,
      from: { enum: qualityLevels },
      to: { enum: qualityLevels },
    },
  },
} as const satisfies Readonly<Record<LogEvent['kind'], object>>

/** Everything in a message but its readings, which is the same in every version. */
const rest = {
  listened: { ...integer, description: "ms of the partition's listening clock" },
  events: { type: 'array', items: { oneOf: Object.values(events) } },
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

const schemaOf = <
  const Version extends number,
  const Items extends readonly object[],
  const More extends object,
>(
  version: Version,
  items: Items,
  more: More,
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
      ...more,
    },
  }) as const

export const readingsSchemaV1 = schemaOf(1, rowsV1.items, {})
/** Version 2, which is written up to format level 2. */
export const readingsMessageSchema = schemaOf(2, rowsV2.items, {})
/** Readings as in version 2. Each has leaf 2; those that have a signature are listed apart. */
export const readingsSchemaV3 = schemaOf(3, rowsV2.items, {
  signed: { type: 'array', items: row(signedItems), description: 'of readings' },
  signedDeferred: { type: 'array', items: row(signedItems), description: 'of deferred' },
  mark: { const: true, description: 'the first message of its partition in version 3' },
  rules: {
    ...integer,
    minimum: 1,
    description: 'of quality, by which it was decided; absent: none',
  },
  neighbours: {
    type: 'array',
    items: row([
      text,
      { ...integer, description: 'endMs of the two hours' },
      { ...integer, description: 'readingsTo: decided from READINGS up to this sequence' },
      { type: 'array', items: text, description: 'unlike these; empty: not unlike' },
    ]),
  },
})

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

type NeighbourRow = readonly [
  sensor: string,
  endMs: number,
  readingsTo: number,
  among: readonly string[],
]
type Version3 = {
  readonly signed?: readonly SignedRow[]
  readonly signedDeferred?: readonly SignedRow[]
  readonly mark?: true
  readonly rules?: number
  readonly neighbours?: readonly NeighbourRow[]
}

/** From the headers of the message: a body without them is not a message. */
export type LogHeader = Pick<
  LogMessage,
  'partition' | 'worker' | 'rawLast' | 'rawLastTimeMs' | 'nLast' | 'lateTo'
>

/** The version is known, but an airproof with other rules of quality wrote it. */
class UnknownRules extends NewerFormat {
  constructor(rules: number) {
    super('readings', formats.readings.newest)
    this.message = `${formats.readings.is} was decided by rules of quality of version ${rules}, and this airproof knows them up to version ${rulesNow}: use the airproof that wrote it, or a later one (docs/upgrading.md)`
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * A message of leaf version 2 is written in version 3, whatever the level: a worker does not go back.
 * @param level 1 writes version 1, which holds only the basic five: others must not be taken then
 */
export function encodeReadings(message: LogMessage, level: FormatLevel): Uint8Array {
  const v = message.leafVersion === 2 ? 3 : level === 1 ? 1 : 2
  const { write } = v === 1 ? rowsV1 : rowsV2
  return encoder.encode(
    JSON.stringify({
      v,
      listened: message.listenedMs,
      readings: message.readings.map((r) => write(nOfSeq(r.seq), r)),
      events: message.events,
      held: message.held,
      deferred: message.deferred.map((r) => [r.rawSeq, ...write(r.item, r)]),
      refused: message.refused.map((r) => [r.rawSeq, r.item, r.reason, r.sensor, r.why]),
      duplicates: message.duplicates,
      ...(v === 3 ? version3Of(message) : {}),
    }),
  )
}

/** What no message has costs it nothing. */
function version3Of(message: LogMessage): Version3 {
  const { readings, deferred, isMark, rules, neighbours = [] } = message
  const signed = signedRows(readings)
  const signedDeferred = signedRows(deferred)
  return {
    ...(signed.length > 0 ? { signed } : {}),
    ...(signedDeferred.length > 0 ? { signedDeferred } : {}),
    ...(isMark === true ? { mark: true } : {}),
    ...(rules === undefined ? {} : { rules }),
    ...(neighbours.length > 0 ? { neighbours: neighbours.map(rowOfVerdict) } : {}),
  }
}

const rowOfVerdict = (verdict: NeighbourVerdict): NeighbourRow => [
  verdict.sensor,
  verdict.endMs,
  verdict.readingsTo,
  verdict.among,
]

const verdictOf = ([sensor, endMs, readingsTo, among]: NeighbourRow): NeighbourVerdict => ({
  sensor: idOf(sensor),
  endMs,
  readingsTo,
  among: among.map(idOf),
})

const isV1 = checkOf<Body<1, RowV1>>(readingsSchemaV1)
const isV2 = checkOf<Body<2, RowV2>>(readingsMessageSchema)
const isV3 = checkOf<Body<3, RowV2> & Version3>(readingsSchemaV3)

/**
 * The body of a READINGS message, its rows read by its version.
 * @throws SyntaxError the bytes are something else  @throws NewerFormat
 */
function parseBody(bytes: Uint8Array, partition: number) {
  const body: unknown = JSON.parse(decoder.decode(bytes))
  const v = typeof body === 'object' && body !== null && 'v' in body ? body.v : undefined
  if (typeof v === 'number') assertKnown('readings', v)
  if (v === 3 && isV3(body)) return readV3(body, partition)
  if (v === 2 && isV2(body)) return { ...body, ...rowsOf(body, rowsV2, partition) }
  if (isV1(body)) return { ...body, ...rowsOf(body, rowsV1, partition) }
  const [first] = (v === 3 ? isV3 : v === 2 ? isV2 : isV1).errors ?? []
  throw new SyntaxError(
    `it is not a READINGS message: ${first?.instancePath ?? ''} ${first?.message ?? ''}`,
  )
}

type Read = Pick<
  LogMessage,
  'readings' | 'deferred' | 'leafVersion' | 'isMark' | 'rules' | 'neighbours'
>

const rowsOf = <Row extends readonly unknown[]>(
  { readings, deferred }: Pick<Body<number, Row>, 'readings' | 'deferred'>,
  { read }: Rows<Row>,
  partition: number,
): Read => ({
  readings: readings.map((row) => read(row, seqOf(partition, row[0]))),
  deferred: deferred.map(([rawSeq, ...row]): Deferred => {
    const { seq: item, leafVersion: _, ...columns } = read(row, row[0])
    return { rawSeq, item, ...columns }
  }),
})

/** @throws SyntaxError a signature is not that of a reading, or a mark holds something */
function readV3(body: Body<3, RowV2> & Version3, partition: number) {
  const { readings, deferred } = rowsOf(body, rowsV3, partition)
  const read: Read = {
    readings: addSignatures(readings, body.signed ?? []),
    deferred: addSignatures(deferred, body.signedDeferred ?? []),
    leafVersion: 2,
    ...(body.mark === true ? { isMark: true } : {}),
    ...(body.rules === undefined ? {} : { rules: knownRules(body.rules) }),
    ...(body.neighbours === undefined ? {} : { neighbours: body.neighbours.map(verdictOf) }),
  }
  const { events, held, refused, duplicates, neighbours = [] } = body
  const lists = [readings, deferred, events, held, refused, duplicates, neighbours]
  if (body.mark === true && lists.some(hasAny))
    throw new SyntaxError('it is not a READINGS message: a mark holds nothing')
  const { rules: _, neighbours: __, ...rest } = body
  return { ...rest, ...read }
}

/** Another version folds its readings in another way. @throws NewerFormat */
function knownRules(rules: number): RulesVersion {
  if (rules > rulesNow) throw new UnknownRules(rules)
  return rulesNow
}

const hasAny = (list: readonly unknown[]): boolean => list.length > 0

// only workers write messages of the log, and they write reasons of the list
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
    ...(body.leafVersion === undefined ? {} : { leafVersion: body.leafVersion }),
    ...(body.isMark === undefined ? {} : { isMark: body.isMark }),
    ...(body.rules === undefined ? {} : { rules: body.rules }),
    ...(body.neighbours === undefined ? {} : { neighbours: body.neighbours }),
  }
}
