import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, MustAct } from '../../runtime/exit.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
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
  const { dataFolder, name, setting, chosen, first } = options
  const file = join(dataFolder, `${name.toLowerCase()}-port`)
  const recorded = readPort(file)
  const wanted = recorded ?? first
  const port =
    chosen === undefined && wanted !== undefined
      ? await wantedOrFree(wanted, options)
      : await freePort(chosen, setting)
  if (port !== recorded) writePrivateFile(file, `${port}\n`)
  return port
}

async function wantedOrFree(
  wanted: number,
  { name, setting, note }: Pick<Options, 'name' | 'setting' | 'note'>,
): Promise<number> {
  try {
    return await freePort(wanted, setting)
  } catch (error) {
    if (!(error instanceof MustAct)) throw error
    const port = await freePort()
    note(
      `${name} port ${wanted} is used by another program: ${name} is on port ${port} from now on, so change the sensors, or stop that program and start with --${flagOf(setting)} ${wanted}`,
    )
    return port
  }
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
