import { serialFault } from '../core/device-topics.ts'
import { WrongUsage } from '../runtime/exit.ts'
import { type Device, deviceKinds } from '../schemas/sensor.ts'

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

function optionOf(text: string): readonly [string, string | number | boolean] {
  const [, name = '', value = ''] = /^([A-Za-z0-9_.-]+)=(.*)$/s.exec(text) ?? []
  if (name === '') throw new WrongUsage(`--device-option must be NAME=VALUE, and is "${text}"`)
  if (value === 'true' || value === 'false') return [name, value === 'true']
  const number = Number(value)
  // 0x00158d0001dc126a is a name, not a number
  return [name, Number.isFinite(number) && String(number) === value ? number : value]
}
