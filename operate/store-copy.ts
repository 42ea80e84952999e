/**
 * The move from one store to another without a gap. `airproof store copy` copies what the store had when it
 * began, and records in KV `system`, key `store-copy`, up to which numbers that is. The first start on
 * the other store writes what the log has after them, and only then is the other one the store.
 * The record never becomes wrong: what comes later has later numbers, and they are in the log as long as
 * the key `needed.store-copy` keeps it, which is seven days.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { nOfSeq, partitionOfSeq, type Reading } from '../core/air/reading.ts'
import { partitionCount } from '../core/air/sensor-id.ts'
import { secondMs } from '../core/time.ts'
import { MustAct, TryAgain } from '../runtime/exit.ts'
import {
  copyCommand,
  isPlace,
  placeInWords,
  placeOf,
  type StorePlace,
  sqliteFileIn,
} from '../runtime/machine/store-place.ts'
import { currentValues, lastValues } from '../runtime/nats/buckets/last-values.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { followLog, type LogEntry } from '../runtime/nats/follow-log.ts'
import { readHeader } from '../runtime/nats/log-messages.ts'
import { lastMessage, messageAt } from '../runtime/nats/stored-message.ts'
import type { SharedConfig } from '../runtime/process/config.ts'
import { claimStore, readKeptStore } from '../runtime/process/kept-store.ts'
import { buckets, readingsStream, readingsSubject } from '../schemas/subjects.ts'
import {
  alivePrefixes,
  neededByStoreCopy,
  storedPrefix,
  systemKeys,
} from '../schemas/system-keys.ts'
import { openStore } from '../store/open-store.ts'
import { sqliteHasRows } from '../store/sqlite/database-file.ts'
import type { Store } from '../store/store.ts'

const goneWithinSeconds = 15

/** How far a store is known to hold the log. */
export type StoredUpTo = {
  /** The last number of each partition. */
  readonly upTo: readonly number[]
  /** The message of READINGS from which on there may be more. */
  readonly restFrom: number
}

export type StoreCopy = StoredUpTo & {
  readonly from: StorePlace
  readonly to: StorePlace
  /** The record of the statistics job when their copy began; null: there was none. */
  readonly rollup: unknown
}

export const isWithin = ({ upTo }: StoredUpTo, { seq }: Reading): boolean =>
  nOfSeq(seq) <= (upTo[partitionOfSeq(seq)] ?? 0)

/** The store that holds the readings of the instance: recorded, or that of a version that did not record it. */
export const storeInUse = async (nc: NatsConnection, dataFolder: string): Promise<StorePlace> =>
  (await readKeptStore(nc)) ?? placeOf({ kind: 'sqlite', file: sqliteFileIn(dataFolder) })

/**
 * Up to which numbers the store holds every reading: up to what the pipeline has published, and what is
 * there of the messages after it.
 */
export async function storedUpTo(
  nc: NatsConnection,
  store: Pick<Store, 'existing'>,
): Promise<StoredUpTo> {
  const [positions, ends] = await Promise.all([readPositions(nc), logEnds(nc)])
  const endSeq = Math.max(0, ...ends.map(({ seq }) => seq))
  const upTo: (number | undefined)[] = Array.from({ length: partitionCount })
  const isAtEnd = Array.from({ length: partitionCount }, () => true)
  let restFrom = endSeq + 1
  const open = positions.filter((position, partition) => position < ends[partition]!.seq)
  for await (const { seq, message } of logBetween(nc, Math.min(endSeq, ...open) + 1, endSeq)) {
    const { partition, readings, nLast } = message
    if (seq <= positions[partition]!) continue
    upTo[partition] ??= nLast - readings.length
    if (!isAtEnd[partition]) continue
    const stored = await store.existing(readings)
    if (stored.every((row) => row !== undefined)) upTo[partition] = nLast
    else {
      isAtEnd[partition] = false
      restFrom = Math.min(restFrom, seq)
    }
  }
  return { restFrom, upTo: upTo.map((n, partition) => n ?? ends[partition]!.n) }
}

/** Keeps the log from there on, for seven days. */
export async function keepLogFrom(nc: NatsConnection, readings: number): Promise<void> {
  await (await systemBucket(nc)).put(neededByStoreCopy, JSON.stringify({ readings }))
}

export async function readRollUp(nc: NatsConnection): Promise<unknown> {
  return (await readEntry(await systemBucket(nc), systemKeys.rollup)) ?? null
}

/** The oldest message that a start on the other store reads. */
export function oldestNeeded({ restFrom, rollup }: Pick<StoreCopy, 'restFrom' | 'rollup'>): number {
  const position: unknown = Reflect.get(Object(rollup), 'position')
  return typeof position === 'number' ? Math.min(restFrom, position + 1) : restFrom
}

export async function writeStoreCopy(nc: NatsConnection, copy: StoreCopy): Promise<void> {
  await (await systemBucket(nc)).put(systemKeys.storeCopy, JSON.stringify(copy))
}

async function readStoreCopy(nc: NatsConnection): Promise<StoreCopy | undefined> {
  const value = await readEntry(await systemBucket(nc), systemKeys.storeCopy)
  return isCopy(value) ? value : undefined
}

/**
 * Records that readings are stored there from now on. After a copy to there, what the log has since is
 * written first; a process that dies meanwhile has changed nothing, and the next start does it again.
 * @returns for people, what became of the former store, if it is another one
 * @throws MustAct if history would be out of reach
 */
export async function takeStore(
  nc: NatsConnection,
  config: Pick<SharedConfig, 'store' | 'storeChanged' | 'dataFolder'>,
): Promise<string | undefined> {
  const claim = { ...config, hasRows: sqliteHasRows }
  const to = placeOf(config.store)
  const [copy, from] = await Promise.all([readStoreCopy(nc), storeInUse(nc, config.dataFolder)])
  const isCopied = copy !== undefined && isEqual(copy.to, to) && isEqual(copy.from, from)
  if (!isCopied || isEqual(from, to)) {
    const former = await claimStore(nc, claim)
    return former && `history stays in ${former}`
  }
  await untilNoPipeline(nc)
  await using store = await openStore(config.store)
  const rows = await writeRest(nc, copy, store)
  const system = await systemBucket(nc)
  if (copy.rollup === null) await system.delete(systemKeys.rollup)
  else await system.put(systemKeys.rollup, JSON.stringify(copy.rollup))
  await claimStore(nc, { ...claim, storeChanged: true })
  return `readings are stored in ${placeInWords(to)} from now on: the copy of ${placeInWords(from)}, and ${rows} readings that came since`
}

/**
 * One that still runs would write to the former store what nobody then copies. After a kill its key is
 * there for ten seconds.
 * @throws TryAgain
 */
async function untilNoPipeline(nc: NatsConnection): Promise<void> {
  for (let look = 0; look < goneWithinSeconds; look++) {
    if (look > 0) await pause(secondMs)
    const alive = await currentValues(nc, buckets.leases, `${alivePrefixes.pipeline}>`)
    if (alive.size === 0) return
  }
  throw new TryAgain(
    'a pipeline still runs on the former store: stop every one of them before one starts on the other store',
  )
}

/** @throws MustAct the log no longer has all of them */
async function writeRest(nc: NatsConnection, copy: StoreCopy, store: Store): Promise<number> {
  const endSeq = Math.max(0, ...(await logEnds(nc)).map(({ seq }) => seq))
  const oldest = oldestNeeded(copy)
  if (oldest <= endSeq && (await messageAt(nc, readingsStream, oldest)) === undefined)
    throw new MustAct(
      `the log no longer has everything that came since the store was copied: start with ${placeInWords(copy.from)} and run \`${copyCommand(copy.from.kind, copy.to.kind)}\` again`,
    )
  let rows = 0
  for await (const { message } of logBetween(nc, copy.restFrom, endSeq)) {
    const missing = message.readings.filter((row) => !isWithin(copy, row))
    if (missing.length > 0) await store.writeBatch(missing)
    rows += missing.length
  }
  return rows
}

type OfLog = LogEntry & { readonly message: NonNullable<LogEntry['message']> }

async function* logBetween(
  nc: NatsConnection,
  fromSeq: number,
  endSeq: number,
): AsyncGenerator<OfLog> {
  if (fromSeq > endSeq) return
  await using log = await followLog(nc, { fromSeq })
  for await (const entry of log) {
    const { message, seq, pending } = entry
    if (seq > endSeq) return
    if (message !== undefined) yield { ...entry, message }
    if (seq === endSeq || pending === 0) return
  }
}

type End = { readonly seq: number; readonly n: number }

/** The last message of each partition: it is never trimmed. */
async function logEnds(nc: NatsConnection): Promise<readonly End[]> {
  return await Promise.all(
    Array.from({ length: partitionCount }, async (_, partition) => {
      const last = await lastMessage(nc, readingsStream, readingsSubject(partition))
      if (last === undefined) return { seq: 0, n: 0 }
      return { seq: last.seq, n: readHeader(last.subject, last.headers).nLast }
    }),
  )
}

/** What the processes of the pipeline have published: up to there the store holds each partition. */
async function readPositions(nc: NatsConnection): Promise<readonly number[]> {
  const system = await systemBucket(nc)
  const positions = Array.from({ length: partitionCount }, () => 0)
  for (const key of (await lastValues(nc, buckets.system, [`${storedPrefix}>`])).keys()) {
    const published = Object.entries(Object(await readEntry(system, key)))
    for (const [partition, position] of published)
      if (typeof position === 'number')
        positions[Number(partition)] = Math.max(positions[Number(partition)] ?? 0, position)
  }
  return positions
}

const systemBucket = async (nc: NatsConnection) => new Kvm(nc).open(buckets.system)

const isEqual = (a: StorePlace, b: StorePlace): boolean => JSON.stringify(a) === JSON.stringify(b)

function isCopy(value: unknown): value is StoreCopy {
  const { from, to, upTo, restFrom }: Partial<Record<keyof StoreCopy, unknown>> = Object(value)
  return (
    isPlace(from) &&
    isPlace(to) &&
    typeof restFrom === 'number' &&
    Array.isArray(upTo) &&
    upTo.length === partitionCount &&
    upTo.every((n) => typeof n === 'number')
  )
}
