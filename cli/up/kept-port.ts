import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../runtime/exit.ts'
import { freePort, takenPorts } from '../../runtime/machine/free-port.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
import { flagOf } from '../../runtime/settings.ts'

type Options = {
  readonly dataFolder: string
  /** What listens on it, such as `NATS`; the folder's file is `nats-port`. */
  readonly name: string
  /** The variable that chooses it. */
  readonly setting: string
  /** The operator's choice; 0: any free port; undefined: that of the last start. */
  readonly chosen: number | undefined
  /** Of the first start; undefined: any free port. */
  readonly first?: number
  readonly note: (line: string) => void
}

/**
 * A port that is configured in sensors: the same at every start on a data folder, recorded there.
 * @throws MustAct where the chosen port is in use
 */
export async function keptPort(options: Options): Promise<number> {
  const { dataFolder, name, setting, chosen, first, note } = options
  const file = join(dataFolder, `${name.toLowerCase()}-port`)
  const recorded = readPort(file)
  const wanted = recorded ?? first
  if (chosen !== undefined || wanted === undefined) {
    const port = await freePort(chosen, setting)
    keepWanted(file, port)
    return port
  }
  const { port, fault, former } = await wantedOrInstead(wanted, {
    file,
    faultOf: async (one) => (await takenPorts([[one, setting]]))[0],
    anyFree: freePort,
  })
  if (fault !== undefined)
    note(
      `${name} port ${wanted} is used by another program: ${name} is on port ${port}. Each start tries port ${wanted} again, so stop that program and start again; or keep port ${port} with --${flagOf(setting)} ${port}, and change the sensors`,
    )
  else if (former !== undefined)
    note(`${name} port ${wanted} is free again: ${name} is there, and no longer on port ${former}`)
  return port
}

type Wanting = {
  /** Of the wanted one; the one that was used in its place is in another file beside it. */
  readonly file: string
  /** Why it cannot be had; undefined: it can. */
  readonly faultOf: (port: number) => Promise<string | undefined>
  readonly anyFree: () => Promise<number>
}

type Found = {
  readonly port: number
  /** Why it is not the wanted one. */
  readonly fault: string | undefined
  /** The one that was used in its place at the last start. */
  readonly former: number | undefined
}

/** The wanted port; while another program has it, the same other one at each start. */
export async function wantedOrInstead(
  wanted: number,
  { file, faultOf, anyFree }: Wanting,
): Promise<Found> {
  const former = readPort(insteadOf(file))
  const fault = await faultOf(wanted)
  if (fault === undefined) {
    keepWanted(file, wanted)
    return { port: wanted, fault, former }
  }
  if (readPort(file) !== wanted) keepWanted(file, wanted)
  const isUsable = former !== undefined && (await faultOf(former)) === undefined
  const port = isUsable ? former : await anyFree()
  if (port !== former) writePrivateFile(insteadOf(file), `${port}\n`)
  return { port, fault, former }
}

const insteadOf = (file: string): string => `${file}-instead`

/** It is to be used at every start; none is used in its place. */
function keepWanted(file: string, port: number): void {
  if (readPort(file) !== port) writePrivateFile(file, `${port}\n`)
  rmSync(insteadOf(file), { force: true })
}

/** Undefined where there is none yet, or the file holds no port. */
export function readPort(file: string): number | undefined {
  try {
    const port = Number(readFileSync(file, 'utf8').trim())
    return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
