import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { openLog } from '../../runtime/log.ts'
import { openDataFolder } from '../../runtime/machine/data-folder.ts'
import { readSharedConfig, type SharedConfig } from '../../runtime/process/config.ts'
import type { CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { loginFor, ownNats } from '../up/nats.ts'

/**
 * Does something with the NATS of the running instance; if none runs on the folder, with the folder's own
 * server, started for as long as that takes. No sensor is let in meanwhile: that is the gate's work.
 */
export async function withNats<T>(
  context: CommandContext,
  use: (nc: NatsConnection, config: SharedConfig) => Promise<T>,
): Promise<T> {
  const { env, note } = context
  const { natsUrl, dataFolder, logLevel } = readSharedConfig(context)
  if (natsUrl !== undefined || !existsSync(join(dataFolder, 'nats')))
    return await withInstance(context, use)
  await using opened = new AsyncDisposableStack()
  opened.use(openDataFolder(dataFolder))
  const own = await ownNats({
    dataFolder,
    host: '127.0.0.1',
    port: undefined,
    mqttPort: undefined,
    tls: undefined,
    onNoRoom: () => note(`the disk of ${dataFolder} is full: make room`),
    onDenied: () => undefined,
    env,
    log: openLog({ name: 'nats-server', level: logLevel, to: process.stderr }),
    note,
  })
  opened.use(await own.service.start())
  const login = loginFor('simulate', own.access)
  return await withInstance({ ...context, env: { ...env, ...login, NATS_URL: own.url } }, use)
}
