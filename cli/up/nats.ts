import { join } from 'node:path'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { type NatsAccess, openNatsAccess, usersFileOf } from '../../runtime/engines/nats-access.ts'
import { certCopy } from '../../runtime/engines/nats-door.ts'
import type { Denied } from '../../runtime/engines/nats-lines.ts'
import {
  endLeftNatsServer,
  type NatsServer,
  reachedAt,
  startNatsServer,
} from '../../runtime/engines/nats-server.ts'
import { airUsers } from '../../runtime/engines/nats-users.ts'
import type { TlsFiles } from '../../runtime/http/tls-files.ts'
import type { Logger } from '../../runtime/log.ts'
import type { Service } from '../../runtime/machine/keep-alive.ts'
import type { Environment } from '../../runtime/settings.ts'
import { keptPort } from './kept-port.ts'

type Options = {
  readonly dataFolder: string
  /** The address that sensors reach it at. */
  readonly host: string
  /** 0: any free port; undefined: that of the last start. */
  readonly port: number | undefined
  readonly mqttPort: number | undefined
  readonly tls: TlsFiles | undefined
  /** Called whenever it cannot store for want of space. */
  readonly onNoRoom: () => void
  /** Called whenever it denies something to a client. */
  readonly onDenied: (denied: Denied) => void
  readonly env: Environment
  readonly log: Logger
  readonly note: (line: string) => void
}

/** Our own NATS, and how to sign in to it. */
export type OwnNats = {
  readonly url: string
  readonly mqtt: string
  readonly access: NatsAccess
  /** Its certificate, where it speaks TLS. */
  readonly pinFile: string | undefined
  readonly service: Service
}

/** The port that MQTT devices try first. */
const usualMqttPort = 1883

/**
 * Our own nats-server as a service: found or downloaded once, then always on the same ports, so
 * that clients find it again, also after the next start on the same folder. It reads its
 * certificate again whenever that changes.
 * @throws MustAct where none is available, or a chosen port is in use
 */
export async function ownNats(options: Options): Promise<OwnNats> {
  const { dataFolder, host, tls, env, log, note, onNoRoom, onDenied } = options
  const engine = await findNatsServer({ env, note })
  const folder = join(dataFolder, 'nats')
  // A server left by a killed supervisor would hold our port.
  await endLeftNatsServer({ engine, folder, log })
  const port = await keptPort({
    dataFolder,
    name: 'NATS',
    setting: 'AIRPROOF_NATS_PORT',
    chosen: options.port,
    note,
  })
  const mqttPort = await keptPort({
    dataFolder,
    name: 'MQTT',
    setting: 'AIRPROOF_MQTT_PORT',
    chosen: options.mqttPort,
    first: usualMqttPort,
    note,
  })
  const access = openNatsAccess(join(dataFolder, 'nats-access.json'))
  const door = { users: usersFileOf(access), mqttPort, ...(tls && { tls: tls.files }) }
  let running: NatsServer | undefined
  tls?.onChange(() => running?.reload())
  return {
    url: `${tls ? 'tls' : 'nats'}://${reachedAt(host)}:${port}`,
    mqtt: `${tls ? 'mqtts' : 'mqtt'}://${reachedAt(host)}:${mqttPort}`,
    access,
    pinFile: tls && join(folder, certCopy),
    service: {
      name: 'nats-server',
      start: async () => {
        const common = { engine, folder, host, port, door, env, log }
        running = await startNatsServer({ ...common, onNoRoom, onDenied })
        return running
      },
    },
  }
}

/** The settings with which one of our processes signs in to our NATS as itself. */
export function loginFor(name: string, { passwords, issuerSeed }: NatsAccess): Environment {
  // the simulated city gives its sensors credentials, as an operator does
  const user = name === 'simulate' ? 'operator' : airUsers.find((known) => known === name)
  if (user === undefined) return {}
  const login = { NATS_USER: user, NATS_PASSWORD: passwords[user] }
  if (user !== 'gate') return login
  return {
    ...login,
    NATS_CALLOUT_USER: 'callout',
    NATS_CALLOUT_PASSWORD: passwords.callout,
    NATS_SYSTEM_USER: 'system',
    NATS_SYSTEM_PASSWORD: passwords.system,
    AIRPROOF_CALLOUT_SEED: issuerSeed,
  }
}
