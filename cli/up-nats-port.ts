import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, MustAct } from '../runtime/exit.ts'
import { freePort } from '../runtime/free-port.ts'
import { writePrivateFile } from '../runtime/private-file.ts'

type Options = {
  readonly dataFolder: string
  /** What the operator chose; 0: any free one; undefined: the one of the last start. */
  readonly chosen: number | undefined
  readonly note: (line: string) => void
}

/**
 * The port of our NATS server: the same at every start on a data folder, because sensors are told
 * an address once. Kept in the folder's file `nats-port`.
 * @throws MustAct where the chosen one is in use
 */
export async function natsPort({ dataFolder, chosen, note }: Options): Promise<number> {
  const file = join(dataFolder, 'nats-port')
  const kept = readPort(file)
  const port =
    chosen === undefined && kept !== undefined
      ? await keptOrFree(kept, note)
      : await freePort(chosen, 'AIRPROOF_NATS_PORT')
  if (port !== kept) writePrivateFile(file, `${port}\n`)
  return port
}

async function keptOrFree(kept: number, note: (line: string) => void): Promise<number> {
  try {
    return await freePort(kept, 'AIRPROOF_NATS_PORT')
  } catch (error) {
    if (!(error instanceof MustAct)) throw error
    const port = await freePort()
    note(
      `NATS port ${kept} is used by another program now: NATS is on port ${port} from here on, so tell the sensors, or stop that program and start with --nats-port ${kept}`,
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
