/** The settings that say which city this is: `airproof init` writes them. */
import type { UsualRanges } from '../../core/air/quality.ts'
import { defaultIdPrefix } from '../../core/air/sensor-id.ts'
import { parseUsualRanges } from '../../core/air/usual-ranges.ts'
import { type TimeZone, timeZoneOf, utc } from '../../core/local-time.ts'
import { type Box, parseBox } from '../../core/map-box.ts'
import { WrongUsage } from '../exit.ts'
import { flagOf, readSettings, type SettingsSource } from '../settings.ts'
import type { networkTable, SettingName } from '../settings-table.ts'

export type NetworkSettings = {
  readonly name: string
  /** What every sensor id begins with, `NGR-LOS` for Lagos. */
  readonly idPrefix: string
  /** Where local days begin and end. */
  readonly timezone: TimeZone
  /** What the map shows; undefined: what its file has. */
  readonly box: Box | undefined
  readonly usual: UsualRanges
  /** Of emails and pages, unless their reader chose one. */
  readonly language: (typeof networkTable)['AIRPROOF_LANGUAGE']['choices'][number]
}

/** @throws WrongUsage that names the variable */
export function readNetworkSettings(source: SettingsSource): NetworkSettings {
  const settings = readSettings(source)
  const name = settings.text('AIRPROOF_NETWORK_NAME')
  const box = settings.text('AIRPROOF_MAP_BOX')
  const usual = settings.text('AIRPROOF_USUAL_RANGES')
  return {
    name,
    idPrefix: readIdPrefix(source),
    timezone: readTimezone(settings.text('AIRPROOF_TIMEZONE'), name),
    box: box === undefined ? undefined : orRefused('AIRPROOF_MAP_BOX', parseBox(box)),
    usual: usual === undefined ? {} : orRefused('AIRPROOF_USUAL_RANGES', parseUsualRanges(usual)),
    language: settings.choice('AIRPROOF_LANGUAGE'),
  }
}

const withFlag = (name: SettingName): string => `${name} (--${flagOf(name)})`

/** @param parsed the value, or what is wrong with it */
function orRefused<T extends object>(name: SettingName, parsed: T | string): T {
  if (typeof parsed === 'string') throw new WrongUsage(`${withFlag(name)}: ${parsed}`)
  return parsed
}

/** @throws WrongUsage that names the variable */
export function readIdPrefix(source: SettingsSource): string {
  const prefix = readSettings(source).text('AIRPROOF_ID_PREFIX')
  if (!/^[A-Z0-9]{2,8}(-[A-Z0-9]{2,8}){0,2}$/.test(prefix))
    throw new WrongUsage(
      `${withFlag('AIRPROOF_ID_PREFIX')} must be capitals like ${defaultIdPrefix} or BER, and is "${prefix}"`,
    )
  return prefix
}

function readTimezone(text: string | undefined, network: string): TimeZone {
  if (text === undefined) return zoneOfCity(network) ?? utc
  const zone = timeZoneOf(text)
  if (zone !== undefined) return zone
  throw new WrongUsage(
    `${withFlag('AIRPROOF_TIMEZONE')} must be a name of the IANA time zones, such as Africa/Lagos or UTC, and is "${text}"`,
  )
}

/** A network is mostly named after its city, and many zones are too: `Lagos` is in Africa/Lagos. */
export function zoneOfCity(city: string): TimeZone | undefined {
  const end = `/${city.trim().replaceAll(/\s+/g, '_').toLowerCase()}`
  const name = Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase().endsWith(end))
  return name === undefined ? undefined : timeZoneOf(name)
}
