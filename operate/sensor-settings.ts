/** What an operator may change of a registered sensor without changing its sites or its secret. */
import { formatIso } from '../core/iso-time.ts'
import {
  type AboutName,
  aboutNames,
  type Device,
  type SensorAbout,
  type SensorEntry,
} from '../schemas/devices/sensor.ts'
import { type NewKey, withNewKey } from './sensor-keys.ts'

/** null: it is not known any more. */
type AboutSettings = { readonly [Name in AboutName]?: SensorAbout[Name] | null }

/** Absent: it stays as it is. */
export type SensorSettings = AboutSettings & {
  readonly cadenceSeconds?: number | undefined
  /** null: it has none any more. Without options, those of the same device stay. */
  readonly device?: Device | null | undefined
  readonly receipts?: boolean | undefined
  readonly newKey?: NewKey | undefined
  readonly signature?: SensorEntry['signature']
}

const settingNames = [
  'cadence',
  'device',
  'receipts',
  'public key',
  'signature',
  ...aboutNames,
] as const
export type SettingName = (typeof settingNames)[number]

/** @param nowMs when a key or the duty to sign is entered */
export function withSettings(
  entry: SensorEntry,
  settings: SensorSettings,
  nowMs = Date.now(),
): SensorEntry {
  const {
    device: _,
    receipts: __,
    keys: known = [],
    signature: before,
    signature_since: since,
    ...described
  } = entry
  const bare = withAbout(described, settings)
  const device = settings.device === null ? undefined : deviceAfter(entry.device, settings.device)
  const receipts = settings.receipts ?? entry.receipts
  const keys = settings.newKey === undefined ? known : withNewKey(known, settings.newKey, nowMs)
  const signature = settings.signature ?? before
  const isNewDuty = signature === 'required' && before !== 'required'
  return {
    ...bare,
    cadence_seconds: settings.cadenceSeconds ?? entry.cadence_seconds,
    ...(device && { device }),
    ...(keys.length === 0 ? {} : { keys: [...keys] }),
    ...(signature === undefined ? {} : { signature }),
    ...(isNewDuty ? { signature_since: formatIso(nowMs) } : {}),
    ...(!isNewDuty && signature === 'required' && since !== undefined
      ? { signature_since: since }
      : {}),
    ...(receipts === true ? { receipts } : {}),
  }
}

function withAbout<T extends SensorAbout>(entry: T, settings: AboutSettings): T {
  const next: Record<string, unknown> = { ...entry }
  for (const name of aboutNames) {
    const value = settings[name]
    if (value === null) delete next[name]
    else if (value !== undefined) next[name] = value
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same names, each of its type
  return next as T
}

export const saysAbout = (settings: AboutSettings): boolean =>
  aboutNames.some((name) => settings[name] !== undefined)

function deviceAfter(known: Device | undefined, wanted: Device | undefined): Device | undefined {
  if (wanted === undefined) return known
  const isSame = known?.kind === wanted.kind && known.serial === wanted.serial
  return isSame && wanted.options === undefined ? known : wanted
}

/** Which settings differ between two states of an entry. */
export const changedSettings = (before: SensorEntry, after: SensorEntry): readonly SettingName[] =>
  settingNames.filter((name) => textOf(before, name) !== textOf(after, name))

function textOf(entry: SensorEntry, name: SettingName): string {
  switch (name) {
    case 'cadence':
      return String(entry.cadence_seconds)
    case 'device':
      return deviceText(entry.device)
    case 'receipts':
      return String(entry.receipts ?? false)
    case 'public key':
      return JSON.stringify(entry.keys ?? [])
    case 'signature':
      return entry.signature ?? 'optional'
    default:
      return String(entry[name] ?? '')
  }
}

/** The same for the same device, in whatever order its options are. */
function deviceText(device: Device | undefined): string {
  if (device === undefined) return ''
  const options = Object.entries(device.options ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([device.kind, device.serial, options])
}
