/** What importing a list of sensors changes: shown before, and done. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorEntry } from '../schemas/devices/sensor.ts'
import { refuseTaken } from './sensor-device.ts'
import { assertMayDescribe, assertMaySign } from './sensor-keys.ts'
import type { ListedSensor } from './sensor-list.ts'
import {
  afterImport,
  type Imported,
  type ImportOptions,
  importSensors,
  listSensors,
  type Registry,
} from './sensor-registry.ts'
import { type SettingName, saysAbout } from './sensor-settings.ts'

/**
 * @param listed each sensor once (`onePerSensor`)
 * @throws MustAct if the instance cannot keep what the list says, or two sensors would have one device
 */
export async function checkList(
  nc: NatsConnection,
  { rules }: Registry,
  listed: readonly ListedSensor[],
): Promise<void> {
  if (listed.some(({ entry: { keys, signature } }) => keys ?? signature)) await assertMaySign(nc)
  if (listed.some(({ settings }) => saysAbout(settings))) await assertMayDescribe(nc)
  const wanted = listed.flatMap(({ entry: { id }, settings: { device } }) =>
    device === undefined ? [] : [[id, device] as const],
  )
  if (wanted.length > 0) refuseTaken(new Map(wanted), await listSensors(nc, rules))
}

/** Durable when resolved; run again, it changes nothing. */
export function importList(
  registry: Registry,
  listed: readonly ListedSensor[],
  options: Pick<ImportOptions, 'mayHaveCredential' | 'onProgress'> = {},
): Promise<Imported> {
  const settings = new Map(listed.map((sensor) => [sensor.entry.id, sensor.settings]))
  return importSensors(
    registry,
    listed.map(({ entry }) => entry),
    { settingsOf: (id) => settings.get(id) ?? {}, ...options },
  )
}

export type Planned = {
  readonly id: string
  /** `returns`: it was retired. */
  readonly outcome: 'new' | 'returns' | 'changed' | 'unchanged'
  readonly what: readonly (SettingName | 'sites')[]
}

/** What an import would do now. @param find also a retired sensor */
export const planImport = (
  listed: readonly ListedSensor[],
  find: (id: string) => SensorEntry | undefined,
): readonly Planned[] =>
  listed.map(({ entry, settings }): Planned => {
    const { id } = entry
    const known = find(id)
    if (known === undefined) return { id, outcome: 'new', what: [] }
    if (known.retired_at !== undefined) return { id, outcome: 'returns', what: [] }
    const { what } = afterImport(known, entry, settings)
    return { id, outcome: what.length === 0 ? 'unchanged' : 'changed', what }
  })
