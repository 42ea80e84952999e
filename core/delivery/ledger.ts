/**
 * A shard's ledger in memory: the fold of its records. A delivery that waits has a slot of 27 bytes
 * in typed arrays; what is due when, and in which order, is derived from it (`due-slots.ts`)
 * and not recorded.
 */
import {
  type DeliveryKey,
  type DeliveryRecord,
  type EventKind,
  type Health,
  type HookRecord,
  healthy,
  kindOfLedgerNumber,
  type LedgerRecord,
  ledgerNumberOf,
  type SourceName,
  sourceNames,
  type Trigger,
  triggers,
} from './delivery.ts'
import type { WebhookNumber } from './webhook-id.ts'

export const slotStates = { free: 0, pending: 1, dead: 2 } as const
const attemptBits = 0x0f
const stateShift = 4
const stateBits = 0x30
/** Where a slot is at the moment; not recorded. */
export const slotMarks = { inWheel: 0x40, active: 0x80 } as const
const half = 2 ** 32
const none = -1
/** Small, because unused slots take memory too. */
const growth = 1.25

/** The state of a webhook, apart from its slots. */
export type HookState = {
  pending: number
  dead: number
  /** Sequence from which on its events must be read again, by source; no entry: it is up to date. */
  behind: Map<SourceName, number>
  health: Health
}

export type Ledger = {
  capacity: number
  /** Slots below it have been in use. */
  top: number
  /** Head of the list of free slots, linked by `next`. */
  freeHead: number
  webhook: Uint32Array
  sequenceLow: Uint32Array
  sequenceHigh: Uint16Array
  dueLow: Uint32Array
  dueHigh: Uint16Array
  bits: Uint16Array
  /** Attempts in the low half, then the slot's state (2 bits), then `slotMarks`. */
  status: Uint8Array
  /** For the queue that the slot is in: ready, free or dead. */
  next: Int32Array
  /** For the wheel. */
  timer: Int32Array
  readonly hooks: Map<WebhookNumber, HookState>
  pending: number
  dead: number
}

export function createLedger(capacity = 1_024): Ledger {
  return {
    capacity,
    top: 0,
    freeHead: none,
    ...columns(capacity),
    hooks: new Map(),
    pending: 0,
    dead: 0,
  }
}

const columns = (capacity: number) => ({
  webhook: new Uint32Array(capacity),
  sequenceLow: new Uint32Array(capacity),
  sequenceHigh: new Uint16Array(capacity),
  dueLow: new Uint32Array(capacity),
  dueHigh: new Uint16Array(capacity),
  bits: new Uint16Array(capacity),
  status: new Uint8Array(capacity),
  next: new Int32Array(capacity).fill(none),
  timer: new Int32Array(capacity).fill(none),
})

function grow(ledger: Ledger, least: number): void {
  if (least <= ledger.capacity) return
  const capacity = Math.max(least, Math.ceil(ledger.capacity * growth))
  const wider = columns(capacity)
  wider.webhook.set(ledger.webhook)
  wider.sequenceLow.set(ledger.sequenceLow)
  wider.sequenceHigh.set(ledger.sequenceHigh)
  wider.dueLow.set(ledger.dueLow)
  wider.dueHigh.set(ledger.dueHigh)
  wider.bits.set(ledger.bits)
  wider.status.set(ledger.status)
  wider.next.set(ledger.next)
  wider.timer.set(ledger.timer)
  Object.assign(ledger, wider, { capacity })
}

/**
 * Takes a slot for a record to be written; no other delivery gets it, and it is free again only when
 * its `done` is folded, which is when that is durable.
 */
export function reserveSlot(ledger: Ledger): number {
  const free = ledger.freeHead
  if (free !== none) {
    ledger.freeHead = ledger.next[free] ?? none
    return free
  }
  grow(ledger, ledger.top + 1)
  return ledger.top++
}

export const stateOf = (ledger: Ledger, slot: number): number =>
  ((ledger.status[slot] ?? 0) & stateBits) >> stateShift
export const attemptsOf = (ledger: Ledger, slot: number): number =>
  (ledger.status[slot] ?? 0) & attemptBits
export const dueOf = (ledger: Ledger, slot: number): number =>
  (ledger.dueHigh[slot] ?? 0) * half + (ledger.dueLow[slot] ?? 0)
export const sequenceOf = (ledger: Ledger, slot: number): number =>
  (ledger.sequenceHigh[slot] ?? 0) * half + (ledger.sequenceLow[slot] ?? 0)

type Mark = (typeof slotMarks)[keyof typeof slotMarks]
export const hasMark = (ledger: Ledger, slot: number, mark: Mark): boolean =>
  ((ledger.status[slot] ?? 0) & mark) !== 0
export function setMark(ledger: Ledger, slot: number, mark: Mark): void {
  ledger.status[slot] = (ledger.status[slot] ?? 0) | mark
}
export function clearMark(ledger: Ledger, slot: number, mark: Mark): void {
  ledger.status[slot] = (ledger.status[slot] ?? 0) & ~mark
}

/** A delivery's small fields in 16 bits. */
export const bitsOf = (kind: EventKind, trigger: Trigger, detail: number): number =>
  ledgerNumberOf(kind) | (triggers.indexOf(trigger) << 3) | (detail << 5)

/** undefined: no kind has the number in these bits. */
export const knownKindOfBits = (bits: number): EventKind | undefined => kindOfLedgerNumber(bits & 7)

/** @throws RangeError if no kind has the number: no record of such a kind is folded */
export function kindOfBits(bits: number): EventKind {
  const kind = knownKindOfBits(bits)
  if (kind === undefined) throw new RangeError(`no kind of event has the number ${bits & 7}`)
  return kind
}
export const triggerOfBits = (bits: number): Trigger => triggers[(bits >> 3) & 3] ?? 'event'
export const detailOfBits = (bits: number): number => bits >> 5

/** The delivery in a slot. */
export function deliveryAt(ledger: Ledger, slot: number): DeliveryRecord {
  const bits = ledger.bits[slot] ?? 0
  return {
    type: stateOf(ledger, slot) === slotStates.dead ? 'dead' : 'wait',
    slot,
    webhook: ledger.webhook[slot] ?? 0,
    kind: kindOfBits(bits),
    trigger: triggerOfBits(bits),
    detail: detailOfBits(bits),
    sequence: sequenceOf(ledger, slot),
    attempts: attemptsOf(ledger, slot),
    dueMs: dueOf(ledger, slot),
  }
}

export function hookOf(ledger: Ledger, webhook: WebhookNumber): HookState {
  const known = ledger.hooks.get(webhook)
  if (known !== undefined) return known
  const fresh = { pending: 0, dead: 0, behind: new Map(), health: healthy }
  ledger.hooks.set(webhook, fresh)
  return fresh
}

/** Folds one record. A record folded twice changes nothing the second time. */
export function applyRecord(ledger: Ledger, record: LedgerRecord): void {
  switch (record.type) {
    case 'new':
    case 'wait':
      return fill(ledger, record, slotStates.pending)
    case 'dead':
      return fill(ledger, record, slotStates.dead)
    case 'done':
      return release(ledger, record.slot)
    case 'hook':
      return applyHook(ledger, record)
    case 'epoch':
      return
  }
}

function fill(ledger: Ledger, record: DeliveryRecord, state: number): void {
  const { slot, sequence, dueMs } = record
  clearSlot(ledger, slot)
  ledger.webhook[slot] = record.webhook
  ledger.sequenceLow[slot] = sequence % half
  ledger.sequenceHigh[slot] = Math.floor(sequence / half)
  ledger.dueLow[slot] = dueMs % half
  ledger.dueHigh[slot] = Math.floor(dueMs / half)
  ledger.bits[slot] = bitsOf(record.kind, record.trigger, record.detail)
  settleSlot(ledger, slot, state, record.attempts)
}

/** Makes room for a slot and subtracts its content from the counts, before its columns are written. */
export function clearSlot(ledger: Ledger, slot: number): void {
  grow(ledger, slot + 1)
  ledger.top = Math.max(ledger.top, slot + 1)
  count(ledger, slot, -1)
}

/** Counts the slot, after its columns were written. */
export function settleSlot(ledger: Ledger, slot: number, state: number, attempts: number): void {
  const marks = (ledger.status[slot] ?? 0) & (slotMarks.inWheel | slotMarks.active)
  ledger.status[slot] = marks | (state << stateShift) | attempts
  count(ledger, slot, 1)
}

function release(ledger: Ledger, slot: number): void {
  if (slot >= ledger.top || stateOf(ledger, slot) === slotStates.free) return
  count(ledger, slot, -1)
  ledger.status[slot] = 0
  ledger.next[slot] = ledger.freeHead
  ledger.freeHead = slot
}

function count(ledger: Ledger, slot: number, by: 1 | -1): void {
  const state = stateOf(ledger, slot)
  if (state === slotStates.free) return
  const hook = hookOf(ledger, ledger.webhook[slot] ?? 0)
  if (state === slotStates.pending) {
    hook.pending += by
    ledger.pending += by
  } else {
    hook.dead += by
    ledger.dead += by
  }
}

function applyHook(ledger: Ledger, { webhook, change }: HookRecord): void {
  switch (change.op) {
    case 'dropped':
      for (const slot of slotsOf(ledger, webhook)) release(ledger, slot)
      ledger.hooks.delete(webhook)
      return
    case 'behind': {
      const { behind } = hookOf(ledger, webhook)
      if (change.from > 0) behind.set(change.source, change.from)
      else behind.delete(change.source)
      return
    }
    case 'health': {
      const { failures, firstFailureMs, lastFailureMs } = change
      hookOf(ledger, webhook).health = { failures, firstFailureMs, lastFailureMs }
    }
  }
}

/** Slots of a webhook, pending or dead: scans every slot, so only for requests of clients. */
export function* slotsOf(ledger: Ledger, webhook: WebhookNumber): Generator<number> {
  for (let slot = 0; slot < ledger.top; slot++) {
    if (ledger.webhook[slot] === webhook && stateOf(ledger, slot) !== slotStates.free) yield slot
  }
}

/** @returns the slot of a delivery, or undefined if it has none */
export function findSlot(ledger: Ledger, key: DeliveryKey): number | undefined {
  for (const slot of slotsOf(ledger, key.webhook)) {
    const bits = ledger.bits[slot] ?? 0
    if (kindOfBits(bits) !== key.kind || detailOfBits(bits) !== key.detail) continue
    if (sequenceOf(ledger, slot) === key.sequence) return slot
  }
  return undefined
}

/** After a recovery: every empty slot is free, in whatever order the records came. */
export function rebuildFreeSlots(ledger: Ledger): void {
  ledger.freeHead = none
  for (let slot = ledger.top - 1; slot >= 0; slot--) {
    if (stateOf(ledger, slot) !== slotStates.free) continue
    ledger.next[slot] = ledger.freeHead
    ledger.freeHead = slot
  }
}

/** The records that rebuild this ledger. */
export function* recordsOf(ledger: Ledger): Generator<LedgerRecord> {
  yield* hookRecordsOf(ledger)
  for (let slot = 0; slot < ledger.top; slot++) {
    if (stateOf(ledger, slot) !== slotStates.free) yield deliveryAt(ledger, slot)
  }
}

export function* hookRecordsOf(ledger: Ledger): Generator<HookRecord> {
  for (const [webhook, { behind, health }] of ledger.hooks) {
    for (const source of sourceNames) {
      const from = behind.get(source)
      if (from !== undefined)
        yield { type: 'hook', webhook, change: { op: 'behind', source, from } }
    }
    if (health.failures > 0) yield { type: 'hook', webhook, change: { op: 'health', ...health } }
  }
}

/** Forgets webhooks without any state: they are added again with their next delivery. */
export function forgetIdleHooks(ledger: Ledger): void {
  for (const [number, { pending, dead, behind, health }] of ledger.hooks) {
    const isIdle = pending === 0 && dead === 0 && health.failures === 0 && behind.size === 0
    if (isIdle) ledger.hooks.delete(number)
  }
}
