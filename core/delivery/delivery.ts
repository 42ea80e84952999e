/** A delivery: its kind, its trigger, the natural key that identifies it, and its records in the ledger. */
import { eventKindRows, sourceRows } from './event-kinds.ts'
import type { WebhookNumber } from './webhook-id.ts'

export type EventKind = keyof typeof eventKindRows
export type SourceName = keyof typeof sourceRows

/** The names of a table's rows, in its order. */
const namesOf = <Row extends object>(rows: Row): readonly (keyof Row & string)[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of an object literal
  Object.keys(rows) as (keyof Row & string)[]

export const eventKinds: readonly EventKind[] = namesOf(eventKindRows)
export const sourceNames: readonly SourceName[] = namesOf(sourceRows)

/** Makes a value for every kind. */
export const mapKinds = <T>(make: (kind: EventKind) => T): Readonly<Record<EventKind, T>> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every key of the type
  Object.fromEntries(eventKinds.map((kind) => [kind, make(kind)])) as Record<EventKind, T>

/** What caused the delivery; in the order of their numbers in the ledger. */
export const triggers = ['event', 'replay', 'recover', 'test'] as const
export type Trigger = (typeof triggers)[number]

/**
 * Two deliveries with the same key are the same delivery: a receiver sees one id. `sequence` is that
 * of the stream of the kind's source. `detail` (0…2047) is the reading's place in its
 * READINGS message, for `aqi.high` the threshold crossed, else 0.
 */
export type DeliveryKey = {
  readonly webhook: WebhookNumber
  readonly kind: EventKind
  readonly sequence: number
  readonly detail: number
}

export const largestDetail = 2_047

/** Whether deliveries of the kind are sent before others that are due. */
export const isUrgent = (kind: EventKind): boolean => eventKindRows[kind].isUrgent

export const sourceOf = (kind: EventKind): SourceName => eventKindRows[kind].source

/** Up to where events have become records, by source; undefined: no webhook subscribes to it. */
export type Cursors = Readonly<Record<SourceName, number | undefined>>

/** Makes a value for every source. */
export const mapSources = <T>(make: (source: SourceName) => T): Readonly<Record<SourceName, T>> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every key of the type
  Object.fromEntries(sourceNames.map((source) => [source, make(source)])) as Record<SourceName, T>

export const ledgerNumberOf = (kind: EventKind): number => eventKindRows[kind].number

const byLedgerNumber = new Map<number, EventKind>(
  eventKinds.map((kind) => [ledgerNumberOf(kind), kind]),
)
/** undefined: no kind has the number. */
export const kindOfLedgerNumber = (number: number): EventKind | undefined =>
  byLedgerNumber.get(number)

/** Below this format level, a process of the instance may not know the kind. */
export const levelOfKind = (kind: EventKind): 1 | 2 => eventKindRows[kind].level
export const levelOfSource = (source: SourceName): 1 | 2 => sourceRows[source].level

/** The key without its webhook, as other processes write it: `aqi.high-1234-150`. */
export const keyText = ({ kind, sequence, detail }: Omit<DeliveryKey, 'webhook'>): string =>
  `${kind}-${sequence}-${detail}`

/** @returns undefined if the text is not a key */
export function parseKeyText(text: string): Omit<DeliveryKey, 'webhook'> | undefined {
  const [, name, sequence, detail] = /^(.+)-([1-9]\d{0,13})-(\d{1,4})$/.exec(text) ?? []
  const kind = eventKinds.find((known) => known === name)
  if (kind === undefined || Number(detail) > largestDetail) return undefined
  return { kind, sequence: Number(sequence), detail: Number(detail) }
}

/** The state of a delivery and its slot. */
export type DeliveryRecord = DeliveryKey & {
  /**
   * new: to be sent · wait: an attempt failed, or a client requested it again · done: the slot is
   * free · dead: given up, kept for queries and replays
   */
  readonly type: 'new' | 'wait' | 'done' | 'dead'
  readonly slot: number
  /** Attempts made so far, 0…11. */
  readonly attempts: number
  /** When the next attempt is due; of a dead one, when it died. ms since the epoch. */
  readonly dueMs: number
  readonly trigger: Trigger
}

export type HookRecord = {
  readonly type: 'hook'
  readonly webhook: WebhookNumber
  readonly change: /** The webhook is deleted, with all its deliveries. */
    | { readonly op: 'dropped' }
    /** Events of the source from this sequence on have no records; 0: none is missing. */
    | { readonly op: 'behind'; readonly source: SourceName; readonly from: number }
    /** Failures since the last success; 0: the last attempt succeeded. */
    | ({ readonly op: 'health' } & Health)
}

export type Health = {
  readonly failures: number
  /** ms since the epoch; 0 without failures. */
  readonly firstFailureMs: number
  readonly lastFailureMs: number
}

/** An owner's first record: proves that it owns the shard, and fences the previous owner. */
type EpochRecord = { readonly type: 'epoch'; readonly atMs: number }

/**
 * A record of a shard's ledger. Each is complete in itself, so a snapshot is simply a list of
 * records, and recovery folds both in the same way.
 */
export type LedgerRecord = DeliveryRecord | HookRecord | EpochRecord

export const healthy: Health = { failures: 0, firstFailureMs: 0, lastFailureMs: 0 }
