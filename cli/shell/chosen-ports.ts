/** Which of the ports that an operator chose are taken: what `up` refuses and `doctor` reports. */
import { takenPorts } from '../../runtime/machine/free-port.ts'

/** Undefined or 0: none was chosen. */
export type ChosenPorts = {
  readonly api: number | undefined
  readonly dashboard: number | undefined
  readonly push: number | undefined
  readonly nats: number | undefined
  readonly mqtt: number | undefined
  /** The first of the admin ports. */
  readonly admin: number | undefined
}

/**
 * The processes with an admin port under `up`, in the order of their ports. A new process is added
 * at the end: the others stay where they are.
 */
export const adminProcesses = [
  'pipeline',
  'anchor',
  'notifier',
  'gate',
  'api',
  'dashboard',
  'archive',
] as const

export const adminPortsFrom = (first: number): readonly (readonly [name: string, port: number])[] =>
  adminProcesses.map((name, place) => [name, first + place])

/** A sentence for each port that is taken. */
export const takenChosenPorts = async (chosen: ChosenPorts): Promise<readonly string[]> => [
  ...(await takenPorts([
    [chosen.api, 'AIRPROOF_API_PORT'],
    [chosen.dashboard, 'AIRPROOF_DASHBOARD_PORT'],
    [chosen.push, 'AIRPROOF_PUSH_PORT'],
    [chosen.nats, 'AIRPROOF_NATS_PORT'],
    [chosen.mqtt, 'AIRPROOF_MQTT_PORT'],
  ])),
  ...(await takenAdminPorts(chosen.admin)),
]

export async function takenAdminPorts(first: number | undefined): Promise<readonly string[]> {
  if (first === undefined || first === 0) return []
  const faults = await Promise.all(
    adminPortsFrom(first).map(async ([name, port]) =>
      (await takenPorts([[port, 'AIRPROOF_ADMIN_PORT']])).map(
        (fault) => `the admin port of ${name}: ${fault}`,
      ),
    ),
  )
  return faults.flat()
}
