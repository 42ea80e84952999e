/** Writes to the registry of sensors: every entry is checked first, every change is by CAS. */

import { type KV, type KvEntry, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorId, SensorIdRules } from '../core/air/sensor-id.ts'
import { formatIso, parseIso } from '../core/iso-time.ts'
import { secondMs } from '../core/time.ts'
import { MustAct, WrongUsage } from '../runtime/exit.ts'
import { inParallel } from '../runtime/in-parallel.ts'
import { checkedEntry } from '../runtime/nats/buckets/read-entry.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { changeEntry } from '../runtime/nats/cas.ts'
import { entryFault } from '../schemas/devices/registered-sensor.ts'
import type { SensorEntry, Site } from '../schemas/devices/sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { keysOfReturned } from './sensor-keys.ts'
import {
  changedSettings,
  type SensorSettings,
  type SettingName,
  withSettings,
} from './sensor-settings.ts'

export type Registry = {
  readonly kv: KV
  /**
   * Bucket `credentials`; used here only to remove the credential of a retired or former sensor.
   */
  readonly credentials: KV
  readonly rules: SensorIdRules
}

/** Rejects at once if the bucket does not exist yet. */
export async function openRegistry(nc: NatsConnection, rules: SensorIdRules): Promise<Registry> {
  const kvm = new Kvm(nc)
  const kv = await kvm.open(buckets.sensors)
  await kv.status()
  return { kv, credentials: await kvm.open(buckets.credentials), rules }
}

export type NewSensor = {
  readonly id: string
  readonly area: string
  readonly lat: number
  readonly lon: number
  readonly address: string
  readonly cadenceSeconds: number
  /** Since when the sensor is there, ms since the epoch. */
  readonly fromMs: number
  readonly nowMs: number
}

export const newEntry = (sensor: NewSensor): SensorEntry => ({
  id: sensor.id,
  cadence_seconds: sensor.cadenceSeconds,
  sites: [
    {
      from: formatIso(sensor.fromMs),
      area: sensor.area,
      lat: sensor.lat,
      lon: sensor.lon,
      address: sensor.address,
    },
  ],
  created_at: formatIso(sensor.nowMs),
})

/** @throws WrongUsage that states what is wrong with the entry */
export function checkEntry(entry: SensorEntry, rules: SensorIdRules): void {
  const fault = entryFault(entry, rules)
  if (fault !== undefined) throw new WrongUsage(`the sensor ${entry.id} is not valid: ${fault}`)
}

/** @throws WrongUsage if it does not have the city's format */
export function checkedId(text: string, rules: SensorIdRules): SensorId {
  const id = rules.parse(text)
  if (id === undefined)
    throw new WrongUsage(
      `"${text}" is not a sensor id: it must look like ${rules.format}, AREA of 2 to 5 capitals and NUMBER of 3 digits or more, such as ${rules.format.replace('{AREA}', 'IKJ').replace('{NUMBER}', '001')}`,
    )
  return id
}

/** Durable when resolved. @throws MustAct if the sensor exists already */
export async function createSensor(registry: Registry, entry: SensorEntry): Promise<void> {
  checkEntry(entry, registry.rules)
  if (await tryCreate(registry, entry)) return
  throw new MustAct(
    `there is a sensor ${entry.id} already: \`airproof sensors show ${entry.id}\` shows it, \`sensors move\` gives it a new site`,
  )
}

/**
 * A retired sensor returns with its sites, its first day and its former public keys. A credential left by a former sensor
 * of the id (0.1 left them) is removed first: its secret must not become valid again.
 * @returns false if there is such a sensor
 */
async function tryCreate(
  { kv, credentials }: Registry,
  entry: SensorEntry,
  mayHaveCredential: (id: string) => boolean = () => true,
): Promise<boolean> {
  const created = await changeEntry<SensorEntry>(kv, entry.id, async (read) => {
    const before = checkedEntry<SensorEntry>(read)
    if (read?.operation === 'PUT' && before?.retired_at === undefined) return undefined
    if (mayHaveCredential(entry.id)) await credentials.delete(entry.id)
    if (before === undefined) return entry
    const sites = mergeSites([...before.sites, ...entry.sites])
    const { created_at, retired_at = created_at } = before
    const keys = keysOfReturned(before.keys ?? [], retired_at, entry.keys ?? [])
    return { ...entry, sites, created_at, ...(keys.length === 0 ? {} : { keys: [...keys] }) }
  })
  return created !== undefined
}

export const findSensor = async (
  { kv }: Registry,
  id: SensorId,
): Promise<SensorEntry | undefined> => checkedEntry<SensorEntry>(await kv.get(id))

/** @throws MustAct */
export const needSensor = async ({ kv }: Registry, id: SensorId): Promise<SensorEntry> =>
  inUse(id, await kv.get(id))

/** @throws MustAct */
function inUse(id: SensorId, read: KvEntry | null): SensorEntry {
  const entry = checkedEntry<SensorEntry>(read)
  if (entry === undefined)
    throw new MustAct(`there is no sensor ${id}: \`airproof sensors list\` shows them`)
  const { retired_at: since } = entry
  if (since !== undefined)
    throw new MustAct(
      `the sensor ${id} was removed on ${since}: \`airproof sensors add\` with its id brings it back`,
    )
  return entry
}

/**
 * Changes an entry as it is now; if another process was faster, again from the new entry.
 * @param change returns undefined if the entry needs no change
 * @throws MustAct unknown sensor  @throws WrongUsage the changed entry is not valid
 */
export const changeSensor = (
  registry: Registry,
  id: SensorId,
  change: (entry: SensorEntry) => SensorEntry | undefined,
): Promise<SensorEntry | undefined> =>
  changeEntry(registry.kv, id, (read) => {
    const changed = change(inUse(id, read))
    if (changed !== undefined) checkEntry(changed, registry.rules)
    return changed
  })

/**
 * Retires a sensor: it is unknown to everything that accepts readings. Its entry stays because its
 * readings do: they can still be requested and proven, with the place where they were measured. The
 * credential is removed first, on which the gate closes the sensor's connections: if this process
 * dies between the two, the sensor cannot sign in, and retiring it again completes the rest.
 * @throws MustAct there is no such sensor
 */
export async function removeSensor(registry: Registry, id: SensorId, nowMs: number): Promise<void> {
  await needSensor(registry, id)
  await registry.credentials.delete(id)
  const retired_at = formatIso(nowMs)
  await changeSensor(registry, id, (entry) => ({ ...entry, retired_at }))
}

/** Every entry of a sensor in use, by id. */
export async function listSensors(
  nc: NatsConnection,
  rules: SensorIdRules,
): Promise<SensorEntry[]> {
  const parse = (value: unknown): SensorEntry | undefined =>
    isEntry(value, rules) && value.retired_at === undefined ? value : undefined
  await using bucket = await watchBucket(nc, buckets.sensors, parse)
  return [...bucket.entries()].map(([, entry]) => entry).toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

const isEntry = (value: unknown, rules: SensorIdRules): value is SensorEntry =>
  entryFault(value, rules) === undefined

export type Imported = {
  created: number
  changed: number
  unchanged: number
  /** How many of the changed sensors have another value of each. */
  readonly what: Partial<Record<SettingName | 'sites', number>>
}

export type ImportOptions = {
  /** The settings that the list has in addition to the site; those that it leaves out stay. */
  readonly settingsOf?: (id: string) => SensorSettings
  /** Of a sensor that is new. A delete is a write that the server syncs: a caller that may read the credentials checks first. */
  readonly mayHaveCredential?: (id: string) => boolean
  readonly onProgress?: (done: number) => void
}

/** This many writes may be under way at once. */
const importWindow = 500

/**
 * Creates new sensors; existing ones get the sites they lack and the settings that the list names.
 * Durable when resolved; run again, it changes nothing.
 * @throws WrongUsage before anything is written, if an entry is not valid
 */
export async function importSensors(
  registry: Registry,
  entries: readonly SensorEntry[],
  {
    settingsOf = () => ({}),
    mayHaveCredential = () => true,
    onProgress = () => undefined,
  }: ImportOptions = {},
): Promise<Imported> {
  for (const entry of entries) checkEntry(entry, registry.rules)
  const imported: Imported = { created: 0, changed: 0, unchanged: 0, what: {} }
  let done = 0
  await inParallel(entries, importWindow, async (entry) => {
    const settings = settingsOf(entry.id)
    const [outcome, what] = await importOne(registry, {
      entry,
      settings,
      mayHaveCredential,
    })
    imported[outcome] += 1
    for (const name of what) imported.what[name] = (imported.what[name] ?? 0) + 1
    onProgress(++done)
  })
  return imported
}

type Outcome = readonly [
  outcome: 'created' | 'changed' | 'unchanged',
  what: readonly (SettingName | 'sites')[],
]

type ToImport = {
  readonly entry: SensorEntry
  readonly settings: SensorSettings
  readonly mayHaveCredential: (id: string) => boolean
}

async function importOne(
  registry: Registry,
  { entry, settings, mayHaveCredential }: ToImport,
): Promise<Outcome> {
  if (await tryCreate(registry, entry, mayHaveCredential)) return ['created', []]
  const id = checkedId(entry.id, registry.rules)
  let what: Outcome[1] = []
  await changeSensor(registry, id, (known) => {
    const after = afterImport(known, entry, settings)
    what = after.what
    return what.length === 0 ? undefined : after.entry
  })
  return [what.length === 0 ? 'unchanged' : 'changed', what]
}

/** A known sensor once a list was imported that names it. */
export function afterImport(
  known: SensorEntry,
  listed: SensorEntry,
  settings: SensorSettings,
): { readonly entry: SensorEntry; readonly what: Outcome[1] } {
  const sites = mergeSites([...known.sites, ...listed.sites])
  const entry = withSettings({ ...known, sites }, settings)
  const areOther = JSON.stringify(sites) !== JSON.stringify(known.sites)
  return {
    entry,
    what: [...changedSettings(known, entry), ...(areOther ? ['sites' as const] : [])],
  }
}

/** Oldest first; a site equal to the one before it is left out. */
export function mergeSites(sites: readonly Site[]): Site[] {
  const merged: Site[] = []
  for (const site of sites.toSorted((a, b) => siteFromMs(a) - siteFromMs(b))) {
    const last = merged.at(-1)
    if (last === undefined || !isSameSite(last, site)) merged.push(site)
  }
  return merged
}

const isSameSite = (a: Site, b: Site): boolean =>
  a.area === b.area && a.lat === b.lat && a.lon === b.lon && a.address === b.address

function siteFromMs({ from }: Site): number {
  const verdict = parseIso(from)
  return 'timeMs' in verdict ? verdict.timeMs : 0
}

export const cadenceSecondsOf = (cadenceMs: number): number =>
  Math.max(1, Math.round(cadenceMs / secondMs))
