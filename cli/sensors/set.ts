import type { NatsConnection } from '@nats-io/transport-node'
import { deviceOf, refuseTaken } from '../../operate/sensor-device.ts'
import { assertMayDescribe, assertMaySign } from '../../operate/sensor-keys.ts'
import {
  cadenceSecondsOf,
  changeSensor,
  listSensors,
  needSensor,
} from '../../operate/sensor-registry.ts'
import {
  changedSettings,
  type SensorSettings,
  saysAbout,
  withSettings,
} from '../../operate/sensor-settings.ts'
import { exitCodes, WrongUsage } from '../../runtime/exit.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import type { Device, SensorEntry } from '../../schemas/devices/sensor.ts'
import type { CommandContext } from '../shell/command.ts'
import { durationFlag, textFlag, textsFlag } from '../shell/words.ts'
import { aboutFlags, aboutIn } from './about.ts'
import { openForOne } from './one-sensor.ts'
import { keysWords, signingIn } from './signing.ts'

type Flags = CommandContext['flags']

/** `sensors set ID --cadence 1m …`: its sites and its credential stay. */
export async function setOf(
  nc: NatsConnection,
  config: SharedConfig,
  { flags, words, print }: CommandContext,
): Promise<number> {
  const { registry, id } = await openForOne(nc, config, words)
  const before = await needSensor(registry, id)
  const settings = settingsIn(flags, before)
  const { device } = settings
  if (settings.newKey !== undefined || settings.signature !== undefined) await assertMaySign(nc)
  if (saysAbout(settings)) await assertMayDescribe(nc)
  if (device) refuseTaken(new Map([[id, device]]), await listSensors(nc, registry.rules))
  const changed = await changeSensor(registry, id, (entry) => {
    const next = withSettings(entry, settings)
    return changedSettings(entry, next).length === 0 ? undefined : next
  })
  if (flags['json'] === true) print(JSON.stringify(changed ?? before))
  else if (changed === undefined) print(`${id} is as it was`)
  else {
    print(`${id} has another ${changedSettings(before, changed).join(', ')}`)
    for (const line of keysWords(before, changed)) print(line)
  }
  return exitCodes.done
}

function settingsIn(flags: Flags, { device }: SensorEntry): SensorSettings {
  const cadenceMs = durationFlag(flags, 'cadence')
  const [on, off] = [flags['receipts'] === true, flags['no-receipts'] === true]
  if (on && off) throw new WrongUsage('--receipts and --no-receipts: which of the two?')
  const settings = {
    cadenceSeconds: cadenceMs === undefined ? undefined : cadenceSecondsOf(cadenceMs),
    device: deviceIn(flags, device),
    receipts: on ? true : off ? false : undefined,
    ...signingIn(flags, Date.now()),
    ...aboutIn(flags),
  }
  if (Object.values(settings).every((value) => value === undefined))
    throw new WrongUsage(
      `nothing to set: give --cadence, --device, --device-option, --receipts, --no-receipts, --public-key, --signature or ${aboutFlags.map((name) => `--${name}`).join(', ')} (a new place is \`sensors move\`)`,
    )
  return settings
}

/** Options without --device are for the sensor's present device. */
function deviceIn(flags: Flags, known: Device | undefined): Device | null | undefined {
  const text = textFlag(flags, 'device')
  const options = textsFlag(flags, 'device-option')
  if (text === 'none' && options.length === 0) return null
  const same = known && `${known.kind}:${known.serial}`
  return deviceOf(text ?? (options.length > 0 ? same : undefined), options)
}
