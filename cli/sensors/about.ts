/** What a command or a list says about the device of a sensor, for everyone to know. */
import type { SensorSettings } from '../../operate/sensor-settings.ts'
import { WrongUsage } from '../../runtime/exit.ts'
import { parseYes } from '../../runtime/settings.ts'
import {
  type AboutName,
  aboutNames,
  type SensorAbout,
  type SensorEntry,
} from '../../schemas/devices/sensor.ts'
import type { CommandContext } from '../shell/command.ts'
import { textFlag } from '../shell/words.ts'

const flagOf = (name: AboutName): string => name.replace('_', '-')

/** The same names as the columns of a list, `--height-m` for `height_m`. */
export const aboutFlags: readonly string[] = aboutNames.map(flagOf)

type About = Pick<SensorSettings, AboutName>

/** @throws WrongUsage */
export const aboutIn = (flags: CommandContext['flags']): About =>
  aboutOfTexts((name) => textFlag(flags, flagOf(name)))

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

export function aboutLines(entry: SensorEntry): readonly string[] {
  const known = aboutNames.filter((name) => entry[name] !== undefined)
  return known.length === 0 ? [] : [known.map((name) => `${name} ${entry[name]}`).join(', ')]
}
