import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, MustAct } from '../../runtime/exit.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
import { flagOf } from '../../runtime/settings.ts'

type Options = {
  readonly dataFolder: string
  /** What is behind it, such as `NATS`; the folder's file is `nats-port`. */
  readonly name: string
  /** The variable that chooses it. */
  readonly setting: string
  /** What the operator chose; 0: any free one; undefined: the one of the last start. */
  readonly chosen: number | undefined
  /** Of the first start; undefined: any free one. */
  readonly first?: number
  readonly note: (line: string) => void
}

/**
 * A port that sensors are told once: the same at every start on a data folder, and kept there.
 * @throws MustAct where the chosen one is in use
 */
export async function keptPort(options: Options): Promise<number> {
  const { dataFolder, name, setting, chosen, first } = options
  const file = join(dataFolder, `${name.toLowerCase()}-port`)
  const kept = readPort(file)
  const wanted = kept ?? first
  const port =
    chosen === undefined && wanted !== undefined
      ? await wantedOrFree(wanted, options)
      : await freePort(chosen, setting)
  if (port !== kept) writePrivateFile(file, `${port}\n`)
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
      `${name} port ${wanted} is used by another program: ${name} is on port ${port} from here on, so tell the sensors, or stop that program and start with --${flagOf(setting)} ${wanted}`,
    )
    return port
  }
}

/** Undefined where there is none yet, or the file holds no port. */
function readPort(file: string): number | undefined {
  try {
    const port = Number(readFileSync(file, 'utf8').trim())
    return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
