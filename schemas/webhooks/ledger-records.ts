/**
 * Ledger records as 24 bytes, little-endian:
 *
 *     0 type · 1 attempts, or the op of a hook record · 2 bits (kind 3, trigger 2, detail 11)
 *     4 webhook · 8 slot · 12 sequence (48 bits) · 18 time in ms (48 bits)
 *
 * The numbers of kinds, and the ops of hook records for sources, are in
 * `core/delivery/event-kinds.ts`, each with the format level since when it exists; a message or
 * snapshot that holds one of them has that level (`LedgerVersion`).
 */
import {
  type Cursors,
  type HookRecord,
  type LedgerRecord,
  levelOfKind,
  levelOfSource,
  mapSources,
  type SourceName,
  sourceNames,
} from '../../core/delivery/delivery.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'
import {
  applyRecord,
  attemptsOf,
  bitsOf,
  clearSlot,
  detailOfBits,
  kindOfBits,
  knownKindOfBits,
  type Ledger,
  settleSlot,
  slotStates,
  stateOf,
  triggerOfBits,
} from '../../core/delivery/ledger.ts'

export const recordBytes = 24

const types = ['', 'new', 'wait', 'done', 'dead', 'hook', 'epoch'] as const
/** In byte 1 of a hook record, in addition to those of the sources. */
const hookOps = { dropped: 1, health: 4 } as const
const sourceByOp = new Map<number, SourceName>(
  sourceNames.map((source) => [sourceRows[source].behindOp, source]),
)
const half = 2 ** 32

export function encodeRecords(records: readonly LedgerRecord[], prefixBytes = 0): Uint8Array {
  const bytes = new Uint8Array(prefixBytes + records.length * recordBytes)
  const view = new DataView(bytes.buffer)
  records.forEach((record, i) => writeRecord(view, prefixBytes + i * recordBytes, record))
  return bytes
}

function writeRecord(view: DataView, at: number, record: LedgerRecord): void {
  view.setUint8(at, types.indexOf(record.type))
  switch (record.type) {
    case 'epoch':
      return write48(view, at + 18, record.atMs)
    case 'hook':
      view.setUint32(at + 4, record.webhook, true)
      return writeHook(view, at, record.change)
    case 'new':
    case 'wait':
    case 'done':
    case 'dead':
      view.setUint8(at + 1, record.attempts)
      view.setUint16(at + 2, bitsOf(record.kind, record.trigger, record.detail), true)
      view.setUint32(at + 4, record.webhook, true)
      view.setUint32(at + 8, record.slot, true)
      write48(view, at + 12, record.sequence)
      write48(view, at + 18, record.dueMs)
  }
}

function writeHook(view: DataView, at: number, change: HookRecord['change']): void {
  switch (change.op) {
    case 'dropped':
      return view.setUint8(at + 1, hookOps.dropped)
    case 'behind':
      view.setUint8(at + 1, sourceRows[change.source].behindOp)
      return write48(view, at + 12, change.from)
    case 'health':
      view.setUint8(at + 1, hookOps.health)
      view.setUint32(at + 8, change.failures, true)
      write48(view, at + 12, change.lastFailureMs)
      write48(view, at + 18, change.firstFailureMs)
  }
}

/**
 * Trusts its input: only a shard's owner writes to its stream, through the fence.
 * @throws RangeError if the bytes are not whole records, or a number in them is unknown
 */
export function decodeRecords(bytes: Uint8Array, prefixBytes = 0): LedgerRecord[] {
  const length = bytes.length - prefixBytes
  if (length < 0 || length % recordBytes !== 0)
    throw new RangeError(`${bytes.length} bytes are not ledger records`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: length / recordBytes }, (_, i) =>
    readRecord(view, prefixBytes + i * recordBytes),
  )
}

function readRecord(view: DataView, at: number): LedgerRecord {
  const type = types[view.getUint8(at)] ?? ''
  const webhook = view.getUint32(at + 4, true)
  switch (type) {
    case 'epoch':
      return { type, atMs: read48(view, at + 18) }
    case 'hook':
      return { type, webhook, change: readHook(view, at) }
    case 'new':
    case 'wait':
    case 'done':
    case 'dead': {
      const bits = view.getUint16(at + 2, true)
      return {
        type,
        webhook,
        kind: kindOfBits(bits),
        trigger: triggerOfBits(bits),
        detail: detailOfBits(bits),
        slot: view.getUint32(at + 8, true),
        attempts: view.getUint8(at + 1),
        sequence: read48(view, at + 12),
        dueMs: read48(view, at + 18),
      }
    }
    case '':
      throw new RangeError(`a ledger record of unknown type ${view.getUint8(at)}`)
  }
}

function readHook(view: DataView, at: number): HookRecord['change'] {
  const op = view.getUint8(at + 1)
  const source = sourceByOp.get(op)
  if (source !== undefined) return { op: 'behind', source, from: read48(view, at + 12) }
  switch (op) {
    case hookOps.dropped:
      return { op: 'dropped' }
    case hookOps.health:
      return {
        op: 'health',
        failures: view.getUint32(at + 8, true),
        lastFailureMs: read48(view, at + 12),
        firstFailureMs: read48(view, at + 18),
      }
    default:
      throw new RangeError(`a hook record has the unknown op ${op}`)
  }
}

function write48(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % half, true)
  view.setUint16(at + 4, Math.floor(value / half), true)
}

const read48 = (view: DataView, at: number): number =>
  view.getUint16(at + 4, true) * half + view.getUint32(at, true)

/** Whether every record has a known type, op and kind. Checked before a whole message is folded. */
export function areRecords(bytes: Uint8Array): boolean {
  if (bytes.length % recordBytes !== 0) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const ops: readonly number[] = [...Object.values(hookOps), ...sourceByOp.keys()]
  for (let at = 0; at < bytes.length; at += recordBytes) {
    const type = types[view.getUint8(at)]
    if (type === undefined || type === '') return false
    if (type === 'hook' && !ops.includes(view.getUint8(at + 1))) return false
    if (hasSlot(type) && knownKindOfBits(view.getUint16(at + 2, true)) === undefined) return false
  }
  return true
}

const hasSlot = (type: (typeof types)[number]): boolean =>
  type === 'new' || type === 'wait' || type === 'done' || type === 'dead'

/** The format level since when the record's content exists. */
export function levelOfRecord(record: LedgerRecord): LedgerVersion {
  if ('kind' in record) return levelOfKind(record.kind)
  const isBehind = record.type === 'hook' && record.change.op === 'behind'
  return isBehind ? levelOfSource(record.change.source) : 1
}

/**
 * Folds the records into the ledger, as reading and applying each of them would, without making a
 * million objects.
 */
export function foldRecords(ledger: Ledger, bytes: Uint8Array): void {
  if (bytes.length % recordBytes !== 0)
    throw new RangeError(`${bytes.length} bytes are not ledger records`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length; at += recordBytes) {
    const type = types[view.getUint8(at)]
    if (type === 'new' || type === 'wait') foldSlot(ledger, view, at, slotStates.pending)
    else if (type === 'dead') foldSlot(ledger, view, at, slotStates.dead)
    else applyRecord(ledger, readRecord(view, at))
  }
}

function foldSlot(ledger: Ledger, view: DataView, at: number, state: number): void {
  const slot = view.getUint32(at + 8, true)
  clearSlot(ledger, slot)
  ledger.webhook[slot] = view.getUint32(at + 4, true)
  ledger.bits[slot] = view.getUint16(at + 2, true)
  ledger.sequenceLow[slot] = view.getUint32(at + 12, true)
  ledger.sequenceHigh[slot] = view.getUint16(at + 16, true)
  ledger.dueLow[slot] = view.getUint32(at + 18, true)
  ledger.dueHigh[slot] = view.getUint16(at + 22, true)
  settleSlot(ledger, slot, state, view.getUint8(at + 1))
}

/** The record of a slot that is not free, 24 bytes at `at`. */
export function writeSlot(ledger: Ledger, slot: number, view: DataView, at: number): void {
  const type = stateOf(ledger, slot) === slotStates.dead ? 'dead' : 'wait'
  view.setUint8(at, types.indexOf(type))
  view.setUint8(at + 1, attemptsOf(ledger, slot))
  view.setUint16(at + 2, ledger.bits[slot] ?? 0, true)
  view.setUint32(at + 4, ledger.webhook[slot] ?? 0, true)
  view.setUint32(at + 8, slot, true)
  view.setUint32(at + 12, ledger.sequenceLow[slot] ?? 0, true)
  view.setUint16(at + 16, ledger.sequenceHigh[slot] ?? 0, true)
  view.setUint32(at + 18, ledger.dueLow[slot] ?? 0, true)
  view.setUint16(at + 22, ledger.dueHigh[slot] ?? 0, true)
}

/**
 * The version of a message of a shard's ledger, and of a snapshot: the lowest format level that has
 * everything in it. One without a version is of 0.1.
 *
 * | version | since | adds |
 * |---|---|---|
 * | 1 | 0.1 | sources `events` and `readings` |
 * | 2 | 0.2 | source `anchored`, and an explicit version |
 */

export type LedgerVersion = 1 | 2

/** The version that cursors and records need. @param ofRecords the highest level among the records */
export const versionOf = (cursors: Cursors, ofRecords: LedgerVersion): LedgerVersion =>
  sourceNames.some((source) => cursors[source] !== undefined && levelOfSource(source) > ofRecords)
    ? 2
    : ofRecords

/**
 * Cursors by the names under which they are written. Version 1 has 0 for a source that no webhook
 * subscribes to; a source that is followed but has nothing yet is 0 too, and starts again.
 */
export const writtenCursors = (
  cursors: Cursors,
  nameOf: (source: keyof Cursors) => string,
): [name: string, cursor: number][] =>
  sourceNames
    .filter((source) => cursors[source] !== undefined || levelOfSource(source) === 1)
    .map((source) => [nameOf(source), cursors[source] ?? 0])

/** @param read the value under a source's name; undefined: there is none */
export const readCursors = (read: (source: keyof Cursors) => number | undefined): Cursors =>
  mapSources((source) => read(source) || (sourceRows[source].isAlwaysFollowed ? 0 : undefined))

/** For a new ledger. */
export const noCursors: Cursors = readCursors(() => undefined)
