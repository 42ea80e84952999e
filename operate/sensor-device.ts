import { isTopicKind, serialFault } from '../core/device-topics.ts'
import { MustAct, WrongUsage } from '../runtime/exit.ts'
import { type Device, deviceKinds, type SensorEntry } from '../schemas/devices/sensor.ts'

/**
 * `KIND:SERIAL` and `NAME=VALUE…` as a registry entry's device.
 * @throws WrongUsage where it is not valid
 */
export function deviceOf(text: string | undefined, options: readonly string[]): Device | undefined {
  if (text === undefined) {
    if (options.length > 0)
      throw new WrongUsage('device options say more about a device, and none is named')
    return undefined
  }
  const [, named = '', serial = ''] = /^([a-z0-9-]+):(.+)$/.exec(text) ?? []
  const kind = deviceKinds.find((known) => known === named)
  if (kind === undefined)
    throw new WrongUsage(
      `a device must be KIND:SERIAL, KIND one of ${deviceKinds.join(', ')}, and is "${text}"`,
    )
  const all = Object.fromEntries(options.map(optionOf))
  const device: Device = { kind, serial, ...(options.length === 0 ? {} : { options: all }) }
  const fault = serialFault(device)
  if (fault !== undefined) throw new WrongUsage(fault)
  return device
}

/** Equal for the same device: topics are case-sensitive, EUIs and MACs are not. */
const deviceKey = ({ kind, serial }: Device): string =>
  `${kind}:${isTopicKind(kind) ? serial : serial.toLowerCase()}`

/**
 * Two sensors that name the same device silence both, because a message does not say which of them
 * it is.
 * @param wanted the devices that sensors are to have @param sensors all that are registered
 * @throws MustAct that names both sensors
 */
export function refuseTaken(
  wanted: ReadonlyMap<string, Device | null>,
  sensors: readonly SensorEntry[],
): void {
  const owners = new Map<string, string>()
  for (const { id, device } of sensors)
    if (device && !wanted.has(id)) owners.set(deviceKey(device), id)
  for (const [id, device] of wanted) {
    if (device === null) continue
    const owner = owners.get(deviceKey(device))
    if (owner !== undefined)
      throw new MustAct(
        `${device.kind}:${device.serial}, which ${id} should have, is the device of ${owner} already, and its messages do not say which of the two sent them: check the serial, or \`airproof sensors set ${owner} --device none\` first`,
      )
    owners.set(deviceKey(device), id)
  }
}

function optionOf(text: string): readonly [string, string | number | boolean] {
  const [, name = '', value = ''] = /^([A-Za-z0-9_.-]+)=(.*)$/s.exec(text) ?? []
  if (name === '') throw new WrongUsage(`a device option must be NAME=VALUE, and is "${text}"`)
  if (value === 'true' || value === 'false') return [name, value === 'true']
  const number = Number(value)
  // 0x00158d0001dc126a is a name, not a number
  return [name, Number.isFinite(number) && String(number) === value ? number : value]
}
