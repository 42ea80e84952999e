import { isTopicKind, serialFault } from '../core/device-topics.ts'
import { MustAct, WrongUsage } from '../runtime/exit.ts'
import { type Device, deviceKinds, type SensorEntry } from '../schemas/sensor.ts'

/**
 * `KIND:SERIAL` and `NAME=VALUE…` as a registry entry's device.
 * @throws WrongUsage where it is none
 */
export function deviceOf(text: string | undefined, options: readonly string[]): Device | undefined {
  if (text === undefined) {
    if (options.length > 0) throw new WrongUsage('--device-option says more about a --device')
    return undefined
  }
  const [, named = '', serial = ''] = /^([a-z0-9-]+):(.+)$/.exec(text) ?? []
  const kind = deviceKinds.find((known) => known === named)
  if (kind === undefined)
    throw new WrongUsage(
      `--device must be KIND:SERIAL, KIND one of ${deviceKinds.join(', ')}, and is "${text}"`,
    )
  const all = Object.fromEntries(options.map(optionOf))
  const device: Device = { kind, serial, ...(options.length === 0 ? {} : { options: all }) }
  const fault = serialFault(device)
  if (fault !== undefined) throw new WrongUsage(fault)
  return device
}

/**
 * Two sensors that name the same device silence both, as a message does not say whose it is.
 * @throws MustAct that names the sensor which has it
 */
export function refuseTaken({ kind, serial }: Device, sensors: readonly SensorEntry[]): void {
  // topics tell cases apart, EUIs and MACs do not
  const spelled = (text: string): string => (isTopicKind(kind) ? text : text.toLowerCase())
  const taken = sensors.find(
    ({ device }) => device?.kind === kind && spelled(device.serial) === spelled(serial),
  )
  if (taken === undefined) return
  throw new MustAct(
    `${kind}:${serial} is the device of ${taken.id} already, and of two sensors its messages would be nobody’s: check the serial, or \`airproof sensors remove ${taken.id}\` first`,
  )
}

function optionOf(text: string): readonly [string, string | number | boolean] {
  const [, name = '', value = ''] = /^([A-Za-z0-9_.-]+)=(.*)$/s.exec(text) ?? []
  if (name === '') throw new WrongUsage(`--device-option must be NAME=VALUE, and is "${text}"`)
  if (value === 'true' || value === 'false') return [name, value === 'true']
  const number = Number(value)
  // 0x00158d0001dc126a is a name, not a number
  return [name, Number.isFinite(number) && String(number) === value ? number : value]
}
