import { readAnchorConfig } from '../../anchor/config.ts'
import { readApiConfig } from '../../api/config.ts'
import { readArchiveConfig } from '../../archive/config.ts'
import { readDashboardConfig } from '../../dashboard/config.ts'
import { readGateConfig } from '../../gate/config.ts'
import { readNotifierConfig } from '../../notifier/config.ts'
import { inWords } from '../../runtime/exit.ts'
import { readTlsFiles } from '../../runtime/http/tls-files.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { secretBox } from '../../runtime/secrets/seal-secret.ts'
import { readSettings, type SettingsSource } from '../../runtime/settings.ts'
import { settingRows, settingsTable } from '../../runtime/settings-table.ts'
import { unknownSettings } from '../../runtime/unknown-settings.ts'
import type { Check } from './check.ts'
import { broken, type Finding, orOk, warning } from './finding.ts'

/** As each process reads its own, so that a wrong value is found before the process starts. */
const readers: readonly ((source: SettingsSource, dataFolder: string) => unknown)[] = [
  readSharedConfig,
  readAnchorConfig,
  readApiConfig,
  readArchiveConfig,
  readDashboardConfig,
  (source) => readGateConfig(isForGate(source) ? source : { ...source, env: {} }),
  readNotifierConfig,
  readTlsFiles,
  (source) => readSettings(source).secret('AIRPROOF_API_KEY'),
  (source) => {
    const key = readSettings(source).secret('AIRPROOF_SECRET')
    return key === undefined ? undefined : secretBox(key)
  },
]

/** A city of its own that still has the name or the ids of Lagos. */
function halfNamed(source: SettingsSource): readonly Finding[] {
  const { isSet } = readSettings(source)
  const named = (['AIRPROOF_NETWORK_NAME', 'AIRPROOF_ID_PREFIX'] as const).map(
    (name) => [name, isSet(name)] as const,
  )
  const [is, isNot] = [true, false].map((set) => named.find(([, has]) => has === set)?.[0])
  if (is === undefined || isNot === undefined) return []
  const value = settingsTable[isNot].default
  return [
    warning(`${is} is set and ${isNot} is not, so it is ${value}`, '`airproof init` asks for both'),
  ]
}

/** The user `system` alone is what `doctor` itself takes. */
const isForGate = (source: SettingsSource): boolean => {
  const { isSet } = readSettings(source)
  return isSet('AIRPROOF_CALLOUT_SEED') || isSet('NATS_CALLOUT_USER')
}

export const settingsCheck: Check = {
  name: 'settings',
  needs: 'nothing',
  isBeforeUp: true,
  run: ({ source, config }) => settingsFindings(source, config.dataFolder),
}

/** Also where the shared settings cannot be read, and nothing else can be checked. */
export function settingsFindings(source: SettingsSource, dataFolder: string): readonly Finding[] {
  const faults = new Set<string>()
  for (const read of readers) {
    try {
      read(source, dataFolder)
    } catch (error) {
      faults.add(inWords(error))
    }
  }
  const { isSet } = readSettings(source)
  const count = settingRows.filter(([name]) => isSet(name)).length
  return orOk(
    [
      ...[...faults].map((fault) => broken(fault)),
      ...unknownSettings(source.env).map((words) => warning(words)),
      ...halfNamed(source),
    ],
    `${count} are set, and every process can read its own`,
  )
}
