/**
 * A shard's ledger at a message of its log, in chunks of whole records, and the manifest that names
 * them. A snapshot consists of records, so it is read by folding it.
 */

import { type Cursors, levelOfKind, type SourceName } from '../../core/delivery/delivery.ts'
import {
  hookRecordsOf,
  kindOfBits,
  type Ledger,
  slotStates,
  stateOf,
} from '../../core/delivery/ledger.ts'
import { checkOf } from '../check.ts'
import { assertKnown } from '../formats.ts'
import {
  encodeRecords,
  type LedgerVersion,
  levelOfRecord,
  readCursors,
  recordBytes,
  writeSlot,
  writtenCursors,
} from './ledger-records.ts'

const integer = { type: 'integer', minimum: 0 } as const

const manifestOf = <const Version extends number, const Extra>(version: Version, extra: Extra) =>
  ({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `airproof/ledger-manifest/${version}`,
    title: `Manifest of a ledger snapshot, version ${version}`,
    type: 'object',
    additionalProperties: false,
    required: ['v', 'walSeq', 'chunks', 'records', 'events', 'readings'],
    properties: {
      v: { const: version },
      walSeq: { ...integer, description: 'last message of the log that is in the snapshot' },
      chunks: integer,
      records: integer,
      events: { ...integer, description: 'cursor of source events' },
      readings: { ...integer, description: 'cursor of source readings, 0: not followed' },
      ...extra,
    },
  }) as const

/** The message of `manifestSubject`: the current snapshot. By version (`ledger-records.ts`). */
const manifestSchemas = {
  1: manifestOf(1, {}),
  2: manifestOf(2, { anchored: { ...integer, description: 'cursor of source anchored' } }),
} as const satisfies Record<LedgerVersion, object>

export type Manifest = {
  readonly version: LedgerVersion
  readonly walSeq: number
  readonly chunks: number
  readonly records: number
  readonly cursors: Cursors
}

type Written = { readonly walSeq: number; readonly chunks: number; readonly records: number } & {
  readonly [Name in SourceName]?: number
}

const isOf = (version: LedgerVersion) => checkOf<Written>(manifestSchemas[version])
const written: Readonly<Record<LedgerVersion, ReturnType<typeof isOf>>> = { 1: isOf(1), 2: isOf(2) }

/** The manifest's bytes. */
export const encodeManifest = ({ version, cursors, ...counts }: Manifest): string =>
  JSON.stringify({
    v: version,
    ...counts,
    ...Object.fromEntries(writtenCursors(cursors, (source) => source)),
  })

/** @returns undefined if the bytes are not a manifest @throws NewerFormat */
export function parseManifest(bytes: Uint8Array): Manifest | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
  for (const version of [1, 2] as const) {
    const isWritten = written[version]
    if (!isWritten(value)) continue
    const { walSeq, chunks, records, ...cursors } = value
    return { version, walSeq, chunks, records, cursors: readCursors((source) => cursors[source]) }
  }
  if (typeof value === 'object' && value !== null && 'v' in value && typeof value.v === 'number')
    assertKnown('manifest', value.v)
  return undefined
}

/** 480 KB. */
const recordsAChunk = 20_000

export type LedgerSnapshot = {
  readonly chunks: readonly Uint8Array[]
  readonly records: number
  /** The lowest level that has all its kinds and sources. */
  readonly level: LedgerVersion
}

/** Encodes the ledger as it is now; later changes are not in it. */
export function encodeLedger(ledger: Ledger): LedgerSnapshot {
  const hooks = [...hookRecordsOf(ledger)]
  const chunks: Uint8Array[] = []
  for (let i = 0; i < hooks.length; i += recordsAChunk)
    chunks.push(encodeRecords(hooks.slice(i, i + recordsAChunk)))
  let left = ledger.pending + ledger.dead
  let level: LedgerVersion = hooks.some((hook) => levelOfRecord(hook) > 1) ? 2 : 1
  const records = hooks.length + left
  let view = new DataView(new ArrayBuffer(0))
  let at = 0
  for (let slot = 0; slot < ledger.top && left > 0; slot++) {
    if (stateOf(ledger, slot) === slotStates.free) continue
    if (at === view.byteLength) {
      const chunk = new Uint8Array(Math.min(left, recordsAChunk) * recordBytes)
      chunks.push(chunk)
      view = new DataView(chunk.buffer)
      at = 0
    }
    writeSlot(ledger, slot, view, at)
    if (level === 1) level = levelOfKind(kindOfBits(ledger.bits[slot] ?? 0))
    at += recordBytes
    left--
  }
  return { chunks, records, level }
}
