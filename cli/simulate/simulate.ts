import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import {
  type NatsConnection,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node'
import { secondMs } from '../../core/time.ts'
import { exitCodes, WrongUsage } from '../../runtime/exit.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import {
  type NetworkSettings,
  readNetworkSettings,
} from '../../runtime/process/network-settings.ts'
import { buckets, connectionsSubject } from '../../schemas/subjects.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { durationFlag, exactWords, numberFlag, wholeFlag } from '../shell/words.ts'
import { type CityOptions, runCity } from './run-city.ts'
import { signInAs } from './sign-in-as.ts'

export const command: Command = {
  summary: 'a believable city of sensors that publish over NATS',
  help: `\
usage: airproof simulate [--sensors N] [--rate R] [--seed S] [--faults] [--first N] [--for 10m]
       airproof simulate --demo N

Registers sensors in parts of Lagos, or in invented parts of AIRPROOF_MAP_BOX, and publishes as
they would in Lagos, until Ctrl-C: the day's course, rush hours, Harmattan dust and rain,
drop-outs, and back-fill when a sensor is connected again. A
reading that NATS cannot take is held and sent again. The same seed makes the same city and air.

  --sensors N  how many (default 40)
  --rate R     readings per second, of all sensors together (default: each one every 10 s)
  --seed S     a whole number (default 1)
  --faults     3 % of the readings have the faults of real ones
  --first N    number of the first sensor of each area (default 501: NGR-LOS-IKJ-501 in Lagos)
  --for 10m    stop after that long
  --demo N     the demonstration of \`airproof up --demo N\`: calm sensors NGR-LOS-IKJ-001 and on,
               one silent for a minute every five, one above 300 every ten minutes, and five
               that sign their readings, with keys that it keeps in the data folder
  --json       at its end print {"registered", "messages"}

examples:
  npx airproof simulate --sensors 200 --faults
  npx airproof simulate --sensors 1000 --rate 2000 --for 60s --json`,
  isLasting: true,
  options: {
    sensors: { type: 'string' },
    rate: { type: 'string' },
    seed: { type: 'string' },
    faults: { type: 'boolean' },
    first: { type: 'string' },
    for: { type: 'string' },
    demo: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    exactWords(context.words)
    const options = cityOptions(context, readNetworkSettings(context))
    return await withInstance(context, async (nc, config) => {
      const { sensors, cadenceMs } = options
      context.note(`${sensors} simulated sensors, each every ${cadenceMs / secondMs} s`)
      const connectAs = await signingIn(nc, config, context)
      const keysFolder = join(config.dataFolder, 'demonstration-keys')
      const report = await runCity(nc, { ...options, connectAs, keysFolder })
      if (context.flags['json'] === true) context.print(JSON.stringify(report))
      else context.note(`${report.registered} sensors registered, ${report.messages} messages sent`)
      return exitCodes.done
    })
  },
}

/** Absent where no gate lets sensors in. */
async function signingIn(
  nc: NatsConnection,
  { natsUrl, natsPinFile, natsLogin }: SharedConfig,
  { note, stop }: Pick<CommandContext, 'note' | 'stop'>,
): Promise<CityOptions['connectAs']> {
  if (natsLogin === undefined || !(await hasGate(nc))) return undefined
  const credentials = await new Kvm(nc).open(buckets.credentials)
  return signInAs(credentials, { natsUrl, natsPinFile, note, stop })
}

async function hasGate(nc: NatsConnection): Promise<boolean> {
  try {
    await nc.request(connectionsSubject('any'), '', { timeout: 5 * secondMs })
    return true
  } catch (error) {
    const cause = error instanceof RequestError ? error.cause : error
    // across accounts the server does not report that no process listens
    if (cause instanceof NoRespondersError || cause instanceof TimeoutError) return false
    throw error
  }
}

const mostSensors = 200_000
const defaultSensors = 40
const defaultCadenceMs = 10 * secondMs

function cityOptions({ flags, note, stop }: CommandContext, network: NetworkSettings): CityOptions {
  const demo = wholeFlag(flags, 'demo', { min: 1, max: mostSensors })
  const other = ['sensors', 'rate', 'first', 'faults'].find((name) => flags[name] !== undefined)
  if (demo !== undefined && other !== undefined)
    throw new WrongUsage(`--demo is a city of its own: leave --${other} out`)
  const sensors =
    demo ?? wholeFlag(flags, 'sensors', { min: 1, max: mostSensors }) ?? defaultSensors
  const rate = numberFlag(flags, 'rate', { min: 0.001, max: 1_000_000 })
  return {
    sensors,
    seed: wholeFlag(flags, 'seed', { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 1,
    firstNumber: demo === undefined ? (wholeFlag(flags, 'first', { min: 1, max: 1e9 }) ?? 501) : 1,
    network,
    cadenceMs: rate === undefined ? defaultCadenceMs : (sensors / rate) * secondMs,
    isDemonstration: demo !== undefined,
    hasFaults: flags['faults'] === true,
    forMs: durationFlag(flags, 'for'),
    nowMs: Date.now,
    note,
    stop,
  }
}
