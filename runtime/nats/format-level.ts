/**
 * The format level of an instance (`schemas/format-level.ts`): KV `system`, key `format`; absent: 1.
 * It only rises. Each process watches it and reports in KV `leases` the newest level that it knows,
 * so that it is raised only when every running process can read what is written from then on.
 */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type KV, type KvEntry, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { leaf2Level } from '../../core/state/border.ts'
import { type FormatLevel, newestLevel } from '../../schemas/format-level.ts'
import { buckets } from '../../schemas/subjects.ts'
import { levelKey, systemKeys } from '../../schemas/system-keys.ts'
import { MustAct } from '../exit.ts'
import { ourVersion } from '../version.ts'
import { leaseRoundMs } from './leases.ts'

/** For writers, which read it for each message, as the level may rise at any time. */
export type LevelNow = {
  readonly current: () => FormatLevel
  /** The instance was new at level 3 or later: it never wrote anything with leaf 1. Absent: no. */
  readonly isBornAbove?: boolean
}

/** The report of a live process; its key in KV `leases` names the process and is deleted with it. */
export type LevelReport = {
  /** The newest level that it knows. */
  readonly level: number
  readonly version: string
  readonly host: string
  readonly pid: number
  /** How often it was renewed: if it stops rising, the process was killed. */
  readonly renewed: number
}

type Watching = {
  /** `pipeline`, `api`, … */
  readonly name: string
  /** Unique among the processes. */
  readonly id: string
  /** The level was raised above what this process knows: it must exit. */
  readonly onTooNew: (error: unknown) => void
  /** The newest level that this process knows. */
  readonly newest?: FormatLevel
}

/**
 * Reports the newest level that this process knows, then watches the instance's level.
 * @throws MustAct if the level is higher than this version knows
 */
export async function watchFormatLevel(
  nc: NatsConnection,
  { name, id, onTooNew, newest = newestLevel }: Watching,
): Promise<LevelNow & AsyncDisposable> {
  const kvm = new Kvm(nc)
  const system = await kvm.open(buckets.system)
  // before the level is read: a command that raises it after that finds the report
  const reports = await startReporting(await kvm.open(buckets.leases), levelKey(name, id), newest)
  let level: FormatLevel = 1
  let isBornAbove = false
  const take = (entry: KvEntry | null): void => {
    const written = knownLevel(levelOf(entry), newest)
    isBornAbove = bornAt(entry) >= leaf2Level
    if (written > level) level = written
  }
  const entries = await system.watch({ key: systemKeys.format })
  const watching = (async () => {
    for await (const entry of entries) {
      try {
        take(entry)
      } catch (error) {
        onTooNew(error)
      }
    }
  })()
  const close = async (): Promise<void> => {
    entries.stop()
    await Promise.all([watching, reports[Symbol.asyncDispose]()])
  }
  try {
    take(await system.get(systemKeys.format))
  } catch (error) {
    await close()
    throw error
  }
  return { current: () => level, isBornAbove, [Symbol.asyncDispose]: close }
}

async function startReporting(
  leases: KV,
  key: string,
  newest: FormatLevel,
): Promise<AsyncDisposable> {
  const known = {
    level: newest,
    version: ourVersion(),
    host: hostname(),
    pid: process.pid,
  }
  let renewed = 0
  const put = async (): Promise<void> => {
    const report: LevelReport = { ...known, renewed: renewed++ }
    await leases.put(key, JSON.stringify(report))
  }
  const ending = new AbortController()
  await put()
  const renewing = (async () => {
    for (;;) {
      await sleep(leaseRoundMs, undefined, { signal: ending.signal })
      // while the server is unavailable the level cannot be raised
      await put().catch(() => undefined)
    }
  })().catch(() => undefined)
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await renewing
      await leases.delete(key).catch(() => undefined)
    },
  }
}

/** The level that is written now. @throws MustAct if the entry is damaged */
export function levelOf(entry: KvEntry | null): number {
  if (entry?.operation !== 'PUT') return 1
  const level = parseEntry(entry.string())?.level
  if (level === undefined)
    throw new MustAct(
      'key `format` of KV `system` does not hold a format level like {"level":1}: restore it from a backup',
    )
  return level
}

/** The level at which the instance was new; 1 where it is not known, as in 0.1. */
export const bornAt = (entry: KvEntry | null): number =>
  (entry?.operation === 'PUT' && parseEntry(entry.string())?.born) || 1

function parseEntry(text: string): { readonly level: number; readonly born: number } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const { level, born = 1 }: { level?: unknown; born?: unknown } = value
    return isCount(level) && isCount(born) ? { level, born } : undefined
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1

/** @throws MustAct if this version does not know the level */
export function knownLevel(written: number, newest: FormatLevel = newestLevel): FormatLevel {
  if (isKnown(written, newest)) return written
  throw new MustAct(
    `this instance writes formats of level ${written}, but airproof ${ourVersion()} knows them only up to level ${newest}: use the version that raised the level, or a later one (docs/upgrading.md)`,
  )
}

const isKnown = (level: number, newest: FormatLevel): level is FormatLevel =>
  level >= 1 && level <= newest

/** The text of the entry. @param born where the instance was new at level 3 or later */
export const levelText = (level: FormatLevel, born = 1): string =>
  JSON.stringify(born < leaf2Level ? { level } : { level, born })

/**
 * Fixes the level that is written: a new instance starts with the newest. An instance of 0.1 has no
 * entry, and its level is 1 until it is raised.
 * @param isNew no stream of the instance existed a moment ago
 * @param newest the newest level that this process knows
 * @throws MustAct if the instance writes newer formats than this version knows
 */
export async function settleFormatLevel(
  system: KV,
  isNew: boolean,
  newest: FormatLevel = newestLevel,
): Promise<FormatLevel> {
  const entry = await system.get(systemKeys.format)
  if (entry?.operation === 'PUT' || !isNew) return knownLevel(levelOf(entry), newest)
  // another process may do the same; the first one decides
  await system.create(systemKeys.format, levelText(newest, newest)).catch(() => undefined)
  return knownLevel(levelOf(await system.get(systemKeys.format)), newest)
}
