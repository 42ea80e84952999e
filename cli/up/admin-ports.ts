/**
 * The admin ports of our processes under `up`: consecutive ones, the same at every start, so that
 * what scrapes them finds them again.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { secondMs } from '../../core/time.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { isRunning, listProcesses } from '../../runtime/machine/process-list.ts'
import { adminPortsFrom, adminProcesses, takenAdminPorts } from '../shell/chosen-ports.ts'
import { readPort, wantedOrInstead } from './kept-port.ts'

const usualFirst = 9480
/** A process of a killed supervisor stops by itself within this time. */
const leftWithinMs = 12 * secondMs
const mostTries = 100

type Options = {
  readonly dataFolder: string
  /** The first of them; 0: any free ports, others at each start; undefined: those of the last start. */
  readonly chosen: number | undefined
  readonly note: (line: string) => void
}

/** 0: any free port. */
export type AdminPorts = (name: string) => number

export async function adminPorts({ dataFolder, chosen, note }: Options): Promise<AdminPorts> {
  if (chosen === 0) return () => 0
  const file = join(dataFolder, 'admin-port')
  const wanted = chosen ?? readPort(file) ?? usualFirst
  const {
    port: first,
    fault,
    former,
  } = await wantedOrInstead(wanted, {
    file,
    faultOf: async (one) => (await takenAdminPorts(one))[0],
    anyFree: freeBlock,
  })
  if (fault !== undefined)
    note(
      `${fault.split(': stop')[0]} by another program: the admin ports are ${first} to ${first + adminProcesses.length - 1}. Each start tries ${wanted} again, so stop that program and start again; or keep these with --admin-port ${first}, and change what scrapes them`,
    )
  else if (former !== undefined && chosen === undefined)
    note(
      `admin port ${wanted} is free again: the admin ports are no longer those from ${former} on`,
    )
  const ports = new Map(adminPortsFrom(first))
  return (name) => ports.get(name) ?? 0
}

/** The processes of a supervisor that was killed still have the ports for a moment. */
export async function untilLeft(dataFolder: string): Promise<void> {
  const deadlineMs = performance.now() + leftWithinMs
  const isLeft = ({ name, pid }: { readonly name: string; readonly pid: number }): boolean =>
    adminProcesses.some((process) => process === name) && isRunning(pid)
  while (performance.now() < deadlineMs && listProcesses(dataFolder).some(isLeft)) await sleep(100)
}

async function freeBlock(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries++) {
    const first = await freePort()
    if ((await takenAdminPorts(first)).length === 0) return first
  }
  return await freePort()
}
