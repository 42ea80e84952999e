/** What a list or a command says about the device of a sensor, for everyone to know. */
import { WrongUsage } from '../runtime/exit.ts'
import { parseYes } from '../runtime/settings.ts'
import { type AboutName, aboutNames, type SensorAbout } from '../schemas/devices/sensor.ts'
import type { SensorSettings } from './sensor-settings.ts'

export type About = Pick<SensorSettings, AboutName>

/** @param textOf empty: it stays as it is; `none`: it is not known any more @throws WrongUsage */
export function aboutOfTexts(textOf: (name: AboutName) => string | undefined): About {
  const named = aboutNames.flatMap((name) => {
    const text = textOf(name)?.normalize('NFC') ?? ''
    return text === '' ? [] : [[name, text === 'none' ? null : valueOf(name, text)] as const]
  })
  return Object.fromEntries(named)
}

function valueOf(name: AboutName, text: string): SensorAbout[AboutName] {
  if (name === 'indoor') {
    const value = parseYes(text)
    if (value === undefined) throw new WrongUsage(`indoor must be yes or no, and is "${text}"`)
    return value
  }
  if (name !== 'height_m') return text
  const value = Number(text)
  if (!Number.isFinite(value))
    throw new WrongUsage(`height_m must be a number of metres, and is "${text}"`)
  return value
}
