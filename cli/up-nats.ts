import { join } from 'node:path'
import { findNatsServer } from '../runtime/engines/find-nats-server.ts'
import { endLeftNatsServer, startNatsServer } from '../runtime/engines/nats-server.ts'
import type { Service } from '../runtime/keep-alive.ts'
import type { Logger } from '../runtime/log.ts'
import type { Environment } from '../runtime/settings.ts'
import { natsPort } from './up-nats-port.ts'

type Options = {
  readonly dataFolder: string
  /** 0: any free one; undefined: the one of the last start. */
  readonly port: number | undefined
  /** Told whenever it cannot store for want of space. */
  readonly onNoRoom: () => void
  readonly env: Environment
  readonly log: Logger
  readonly note: (line: string) => void
}

/**
 * Our own nats-server as a service: found or fetched once, then always on the same port, so that
 * whoever is connected finds it again, also after the next start on the same folder.
 * @throws MustAct where none can be had, or the chosen port is in use
 */
export async function natsService(options: Options): Promise<Service & { readonly url: string }> {
  const { dataFolder, env, note, onNoRoom } = options
  const engine = await findNatsServer({ env, note })
  const log = options.log.child({ name: 'nats-server' })
  const folder = join(dataFolder, 'nats')
  // One left by a killed supervisor would hold the port that is ours.
  await endLeftNatsServer({ engine, folder, log })
  const port = await natsPort({ dataFolder, chosen: options.port, note })
  return {
    name: 'nats-server',
    url: `nats://127.0.0.1:${port}`,
    start: () => startNatsServer({ engine, folder, port, env, onNoRoom, log }),
  }
}
