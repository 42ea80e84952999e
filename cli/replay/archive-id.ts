import { type SensorId, type SensorIdRules, sensorIdRules } from '../../core/air/sensor-id.ts'
import { WrongUsage } from '../../runtime/exit.ts'

export type ArchiveIdOptions = {
  readonly idPrefix: string
  /** The AREA part of the ids made. */
  readonly code: string
}

export const defaultCode = 'ARC'
export const defaultArea = 'Archive'

/**
 * Gives each sensor of an archive its id here: `4851` is `NGR-LOS-ARC-4851`; a name that is a whole
 * id already stays. undefined: no id can be made of the name.
 * @throws WrongUsage where the code is not valid
 */
export function archiveIds({
  idPrefix,
  code,
}: ArchiveIdOptions): (name: string) => SensorId | undefined {
  const rules: SensorIdRules = sensorIdRules(idPrefix)
  if (rules.parse(`${idPrefix}-${code}-000`) === undefined)
    throw new WrongUsage(`--code must be 2 to 5 capitals such as ${defaultCode}, and is "${code}"`)
  return (name) => rules.parse(name) ?? rules.parse(`${idPrefix}-${code}-${name.padStart(3, '0')}`)
}
