/**
 * A shard's ledger at a message of its log, in chunks of whole records, and the manifest that names
 * them. A snapshot is records, so reading it is folding it.
 */
import { Ajv } from 'ajv'
import type { FromSchema } from 'json-schema-to-ts'
import { hookRecordsOf, type Ledger, slotStates, stateOf } from '../../core/delivery/ledger.ts'
import { asVersion1 } from '../formats.ts'
import { encodeRecords, recordBytes, writeSlot } from './ledger-records.ts'

const integer = { type: 'integer', minimum: 0 } as const

/** The message of `manifestSubject`: the snapshot that counts. */
export const manifestSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/ledger-manifest',
  title: 'Manifest of a ledger snapshot',
  type: 'object',
  additionalProperties: false,
  required: ['v', 'walSeq', 'chunks', 'records', 'events', 'readings'],
  properties: {
    v: { const: 1 },
    walSeq: { ...integer, description: 'message of the log that everything up to is in here' },
    chunks: integer,
    records: integer,
    events: { ...integer, description: 'cursor in EVENTS' },
    readings: { ...integer, description: 'cursor in READINGS, 0 while nobody wants them' },
  },
} as const

export type Manifest = FromSchema<typeof manifestSchema>

const isManifest = new Ajv({ strict: true }).compile<Manifest>(manifestSchema)

/** @returns undefined if the bytes are not a manifest @throws NewerFormat */
export function parseManifest(bytes: Uint8Array): Manifest | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
  if (isManifest(value)) return value
  asVersion1('manifest', value)
  return undefined
}

/** 480 KB. */
const recordsAChunk = 20_000

export type LedgerSnapshot = { readonly chunks: readonly Uint8Array[]; readonly records: number }

/** Takes the ledger as it is now; what comes later is not in it. */
export function encodeLedger(ledger: Ledger): LedgerSnapshot {
  const hooks = [...hookRecordsOf(ledger)]
  const chunks: Uint8Array[] = []
  for (let i = 0; i < hooks.length; i += recordsAChunk)
    chunks.push(encodeRecords(hooks.slice(i, i + recordsAChunk)))
  let left = ledger.pending + ledger.dead
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
    at += recordBytes
    left--
  }
  return { chunks, records }
}
