/**
 * Raises the format level of an instance once every running process knows the newest one. A process
 * of 0.1 reports no level; it is recognised by what it does: its lease, or, if it has none, the
 * bucket that only its kind watches.
 *
 * If it is killed at any step, the next call continues: the entry `partitions` keeps 0.1 from
 * starting before the level is written, and processes write only by the level.
 */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { currentValues } from '../runtime/nats/buckets/last-values.ts'
import { unlessOvertaken } from '../runtime/nats/cas.ts'
import { bornAt, knownLevel, levelOf, levelText } from '../runtime/nats/format-level.ts'
import { leaseRoundMs } from '../runtime/nats/leases.ts'
import { partitionsText } from '../runtime/nats/streams/streams.ts'
import { type FormatLevel, newestLevel } from '../schemas/format-level.ts'
import { buckets } from '../schemas/subjects.ts'
import { alivePrefixes, levelPrefix, systemKeys } from '../schemas/system-keys.ts'

export type LiveProcess = {
  /** `pipeline`, `api`, … */
  readonly name: string
  /** Its instance; undefined: known only to exist. */
  readonly id: string | undefined
  /** The newest level that it knows; undefined: it reports none, as 0.1 does. */
  readonly level: number | undefined
  readonly version: string | undefined
  readonly host: string | undefined
  readonly pid: number | undefined
}

export type Upgrade = {
  /** The level before and after. */
  readonly from: FormatLevel
  readonly to: FormatLevel
  readonly processes: readonly LiveProcess[]
  /** The processes that do not know the newest level: while there is one, the level stays. */
  readonly outdated: readonly LiveProcess[]
}

type Upgrading = {
  /** Resolves after `ms`, or rejects when stopped. */
  readonly pause: (ms: number) => Promise<unknown>
  /** Only checks. */
  readonly isDryRun?: boolean
}

/** Each live process renews its report within this time. */
const renewedWithinMs = 1.5 * leaseRoundMs

/** Idempotent. @throws MustAct the level is newer than this version knows */
export async function raiseFormatLevel(
  nc: NatsConnection,
  { pause, isDryRun = false }: Upgrading,
): Promise<Upgrade> {
  const system = await new Kvm(nc).open(buckets.system)
  const read = async (): Promise<FormatLevel> =>
    knownLevel(levelOf(await system.get(systemKeys.format)))
  for (;;) {
    const from = await read()
    if (from === newestLevel && !isDryRun) return { from, to: from, processes: [], outdated: [] }
    const processes = await liveProcesses(nc, pause)
    const outdated = processes.filter(isOutdated)
    if (isDryRun || outdated.length > 0) return { from, to: from, processes, outdated }
    // 0.1 does not start from here on; one that did just before is found by the second check
    await system.put(systemKeys.partitions, partitionsText(newestLevel))
    const late = (await liveProcesses(nc, pause)).filter(isOutdated)
    if (late.length > 0) {
      await system.put(systemKeys.partitions, partitionsText(from))
      return { from, to: from, processes, outdated: late }
    }
    if (await write(system, from)) return { from, to: newestLevel, processes, outdated: [] }
  }
}

const isOutdated = ({ level }: LiveProcess): boolean => level === undefined || level < newestLevel

/** @returns false: another command has changed it */
async function write(system: KV, from: FormatLevel): Promise<boolean> {
  const entry = await system.get(systemKeys.format)
  if (levelOf(entry) !== from) return false
  const previousSeq = entry?.revision ?? 0
  const write = system.put(systemKeys.format, levelText(newestLevel, bornAt(entry)), {
    previousSeq,
  })
  return (await unlessOvertaken(write)) !== 'overtaken'
}

type Report = { readonly process: LiveProcess; readonly id: string; readonly isRenewed: boolean }

/** All running processes. A process that was killed counts until its lease ends, 10 s later. */
export async function liveProcesses(
  nc: NatsConnection,
  pause: Upgrading['pause'],
): Promise<readonly LiveProcess[]> {
  const before = await readReports(nc)
  await pause(renewedWithinMs)
  const reports = [...(await readReports(nc))].map((entry) => reportOf(entry, before))
  const renewed = reports.filter(({ isRenewed }) => isRenewed)
  const reported = new Set(renewed.map(({ id }) => id.replace(/-\d+$/, '')))
  const silent = [...(await leaseHolders(nc))].filter(([id]) => !reported.has(id))
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const watching = await Promise.all(
    watchedOnlyBy.map(async ({ name, bucket }) => {
      const known = renewed.filter(({ process }) => process.name === name).length
      const count = (await countWatchers(manager, bucket)) - known
      return Array.from({ length: Math.max(0, count) }, () => unknownProcess(name))
    }),
  )
  return [
    // a process that did not renew its report may hang: its level counts as unknown
    ...reports
      .filter(({ process, isRenewed }) => isRenewed || isOutdated(process))
      .map(({ process }) => process),
    ...silent.map(([id, name]) => unknownProcess(name, id)),
    ...watching.flat(),
  ]
}

/** Every process that reports its level; one that was killed counts for 10 s. */
export const levelReports = async (nc: NatsConnection): Promise<readonly LiveProcess[]> =>
  [...(await readReports(nc))].map((entry) => reportOf(entry, new Map()).process)

const unknownProcess = (name: string, id?: string): LiveProcess => ({
  name,
  id,
  level: undefined,
  version: undefined,
  host: undefined,
  pid: undefined,
})

/** They take no lease, but each process of the kind has one watch of the bucket. */
const watchedOnlyBy = [
  { name: 'api', bucket: buckets.quota },
  { name: 'dashboard', bucket: buckets.sessions },
] as const

async function countWatchers(manager: JetStreamManager, bucket: string): Promise<number> {
  let count = 0
  for await (const { push_bound: isBound } of manager.consumers.list(`KV_${bucket}`))
    if (isBound === true) count++
  return count
}

/** Lease id → kind of process. */
async function leaseHolders(nc: NatsConnection): Promise<ReadonlyMap<string, string>> {
  const holders = new Map<string, string>()
  for (const [work, prefix] of Object.entries(alivePrefixes))
    for (const key of (await currentValues(nc, buckets.leases, `${prefix}>`)).keys())
      holders.set(key.slice(prefix.length), work === 'topics' ? 'gate' : work)
  return holders
}

const readReports = (nc: NatsConnection): Promise<ReadonlyMap<string, string>> =>
  currentValues(nc, buckets.leases, `${levelPrefix}>`)

function reportOf(
  [key, text]: readonly [string, string],
  before: ReadonlyMap<string, string>,
): Report {
  const [name = '', ...rest] = key.slice(levelPrefix.length).split('.')
  const id = rest.join('.')
  return { process: { name, id, ...parseReport(text) }, id, isRenewed: before.get(key) !== text }
}

function parseReport(text: string): Pick<LiveProcess, 'level' | 'version' | 'host' | 'pid'> {
  const report = fieldsOf(text)
  const number = (name: string): number | undefined =>
    typeof report[name] === 'number' ? report[name] : undefined
  const word = (name: string): string | undefined =>
    typeof report[name] === 'string' ? report[name] : undefined
  return {
    level: number('level'),
    version: word('version'),
    host: word('host'),
    pid: number('pid'),
  }
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** For a person: `pipeline on air-2 (process 4711, airproof 0.2.0)`. */
export function processInWords({ name, id, version, host, pid }: LiveProcess): string {
  if (version === undefined)
    return `${name}${id === undefined ? '' : ` ${id}`} (reports no level, so it is airproof 0.1)`
  return `${name} on ${host ?? '?'} (process ${pid ?? '?'}, airproof ${version})`
}
