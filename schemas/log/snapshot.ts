/**
 * A snapshot of a partition's state: what a worker or an API process starts from before it folds
 * the READINGS messages after it. A binary body, in chunks that fit a message each:
 *
 *     header length (u32) · header (JSON) · ids (lines) · columns · hours
 *
 * Columns lie there as they lie in memory, little-endian on every machine that Node 26 runs on.
 */

import type { SensorId } from '../../core/air/sensor-id.ts'
import { mostValues } from '../../core/air/values.ts'
import {
  areaPlaceOf,
  createState,
  type PartitionState,
  slotOf,
} from '../../core/state/partition-state.ts'
import { columnNames, layout } from '../../core/state/state-columns.ts'
import type { FormatLevel } from '../format-level.ts'
import { bytesOf, concat, readBytes } from './snapshot-bytes.ts'
import { type ChecksHeader, checkNames, packChecks, unpackChecks } from './snapshot-checks.ts'
import { cutBody, joinChunks } from './snapshot-chunks.ts'
import { hourNames, packHours, unpackHours } from './snapshot-hours.ts'
import { numbersV1, numbersV2, packNumbers, unpackNumbers } from './snapshot-numbers.ts'
import { assertKnownQuantities } from './unknown-quantities.ts'

/** READINGS sequences up to which each projection of the log is complete. */
export type Positions = {
  readonly store: number
  readonly events: number
  readonly rejected: number
}

/** The key of an accepted row that the store would not take: accepted once, ever, all the same. */
export type RefusedKey = readonly [sensor: SensorId, timeMs: number]

export type Snapshot = {
  readonly state: PartitionState
  readonly positions: Positions
  readonly refusedKeys: readonly RefusedKey[]
}

/** Hours travel packed (`snapshot-hours.ts`), every other column as it is. */
const wholeNames = columnNames.filter(
  (name) => ![...hourNames, ...checkNames].some((other) => other === name),
)

type Header = Partial<ChecksHeader> &
  Pick<PartitionState, 'n' | 'lateTo' | 'listenedMs' | 'rawLast' | 'rawLastTimeMs'> & {
    readonly sensors: number
    readonly idBytes: number
    readonly areas: readonly string[]
    readonly positions: Positions
    readonly refusedKeys: readonly RefusedKey[]
    /** How many quantities the rows of `numbers` hold; absent in version 1. */
    readonly values?: number
  }

const placesOf = ({ values }: Header): readonly number[] =>
  values === undefined ? numbersV1 : numbersV2(values)

const encoder = new TextEncoder()

/**
 * Call it when every reading heard is committed: `state` is then READINGS at its sequence.
 * @returns chunks of at most 512 KiB, each naming partition, sequence, its number and their count
 */
export function encodeSnapshot(
  state: PartitionState,
  positions: Positions,
  refusedKeys: readonly RefusedKey[],
  level: FormatLevel,
): Uint8Array[] {
  const version = level === 1 ? 1 : 2
  const { n, lateTo, listenedMs, rawLast, rawLastTimeMs, areas } = state
  const sensors = state.ids.length
  const checks = packChecks(state)
  const ids = encoder.encode(state.ids.join('\n'))
  const header: Header = {
    sensors,
    idBytes: ids.length,
    areas,
    positions,
    refusedKeys,
    n,
    lateTo,
    listenedMs,
    rawLast,
    rawLastTimeMs,
    ...(version === 1 ? {} : { values: mostValues, ...checks.header }),
  }
  const headerBytes = encoder.encode(JSON.stringify(header))
  const bytes = concat([
    bytesOf(Uint32Array.of(headerBytes.length)),
    headerBytes,
    ids,
    ...wholeNames.map((name) =>
      name === 'numbers'
        ? bytesOf(packNumbers(state, placesOf(header)))
        : bytesOf(state[name].subarray(0, sensors * layout[name].width)),
    ),
    ...packHours(state),
    ...(version === 1 ? [] : checks.parts),
  ])
  return cutBody({ version, partition: state.partition, readingsSeq: state.readingsSeq, bytes })
}

/**
 * @param chunks of one partition, in any order
 * @returns undefined where chunks are missing, torn or of different snapshots
 * @throws NewerFormat
 */
export function decodeSnapshot(chunks: readonly Uint8Array[]): Snapshot | undefined {
  const body = joinChunks(chunks)
  if (body === undefined) return undefined
  const reader = readBytes(body.bytes)
  const headerBytes = reader.take(new Uint32Array(1))[0] ?? 0
  // only `encodeSnapshot` writes these bytes, and the checksum says they are what it wrote
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const header = JSON.parse(reader.text(headerBytes)) as Header
  const {
    sensors,
    idBytes,
    areas,
    positions,
    refusedKeys,
    values,
    checks,
    failedHours,
    ...counters
  } = header
  if (values !== undefined) assertKnownQuantities('snapshot', values)

  const state = createState(body.partition, Math.max(1, sensors))
  const ids = reader.text(idBytes)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (sensors > 0) for (const id of ids.split('\n')) slotOf(state, id as SensorId)
  for (const name of wholeNames) {
    if (name === 'numbers') unpackNumbers(state, reader, placesOf(header))
    else reader.take(state[name].subarray(0, sensors * layout[name].width))
  }
  unpackHours(state, reader)
  unpackChecks(state, reader, { checks, failedHours })
  for (const area of areas) areaPlaceOf(state, area)
  Object.assign(state, counters, { readingsSeq: body.readingsSeq })
  return { state, positions, refusedKeys }
}
