/** What a command or a list says about the device of a sensor, for everyone to know. */
import { type About, aboutOfTexts } from '../../operate/sensor-about.ts'
import { type AboutName, aboutNames, type SensorEntry } from '../../schemas/devices/sensor.ts'
import type { CommandContext } from '../shell/command.ts'
import { textFlag } from '../shell/words.ts'

const flagOf = (name: AboutName): string => name.replace('_', '-')

/** The same names as the columns of a list, `--height-m` for `height_m`. */
export const aboutFlags: readonly string[] = aboutNames.map(flagOf)

/** @throws WrongUsage */
export const aboutIn = (flags: CommandContext['flags']): About =>
  aboutOfTexts((name) => textFlag(flags, flagOf(name)))

export function aboutLines(entry: SensorEntry): readonly string[] {
  const known = aboutNames.filter((name) => entry[name] !== undefined)
  return known.length === 0 ? [] : [known.map((name) => `${name} ${entry[name]}`).join(', ')]
}
