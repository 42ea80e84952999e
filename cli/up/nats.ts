import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import {
  accessFileIn,
  type NatsAccess,
  natsFolderIn,
  openNatsAccess,
  passwordFileOf,
  passwordText,
  seedFile,
  seedText,
  usersFileOf,
} from '../../runtime/engines/nats-access.ts'
import { certCopy } from '../../runtime/engines/nats-door.ts'
import type { Denied } from '../../runtime/engines/nats-lines.ts'
import {
  endLeftNatsServer,
  type NatsServer,
  reachedAt,
  startNatsServer,
} from '../../runtime/engines/nats-server.ts'
import { airUsers, type OwnUser, ownUsers } from '../../runtime/engines/nats-users.ts'
import type { TlsFiles } from '../../runtime/http/tls-files.ts'
import type { Logger } from '../../runtime/log.ts'
import type { Service } from '../../runtime/machine/keep-alive.ts'
import type { NatsLogin } from '../../runtime/nats/nats-trouble.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
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
  readonly access: OwnAccess
  /** Its certificate, where it speaks TLS. */
  readonly pinFile: string | undefined
  readonly service: Service
}

/** As the files of the folder have it now: a rotation changes them while all goes on. */
export type OwnAccess = {
  readonly seedFile: string
  readonly login: (user: OwnUser) => Required<NatsLogin>
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
  const folder = natsFolderIn(dataFolder)
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
  const access = (): NatsAccess => openNatsAccess(accessFileIn(dataFolder))
  writePasswords(access(), folder)
  let running: NatsServer | undefined
  tls?.onChange(() => running?.reload())
  return {
    url: `${tls ? 'tls' : 'nats'}://${reachedAt(host)}:${port}`,
    mqtt: `${tls ? 'mqtts' : 'mqtt'}://${reachedAt(host)}:${mqttPort}`,
    access: ownAccessIn(dataFolder),
    pinFile: tls && join(folder, certCopy),
    service: {
      name: 'nats-server',
      start: async () => {
        const door = { users: usersFileOf(access()), mqttPort, ...(tls && { tls: tls.files }) }
        const common = { engine, folder, host, port, door, env, log }
        running = await startNatsServer({ ...common, onNoRoom, onDenied })
        return running
      },
    },
  }
}

function ownAccessIn(dataFolder: string): OwnAccess {
  return {
    seedFile: join(natsFolderIn(dataFolder), seedFile),
    login: (user) => ({
      user,
      password: openNatsAccess(accessFileIn(dataFolder)).passwords[user],
      file: join(natsFolderIn(dataFolder), passwordFileOf(user)),
    }),
  }
}

export function writePasswords(access: NatsAccess, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const user of ownUsers)
    writePrivateFile(join(folder, passwordFileOf(user)), passwordText(access, user))
  writePrivateFile(join(folder, seedFile), seedText(access))
}

/** The settings with which one of our processes signs in to our NATS as itself. */
export function loginFor(name: string, { login, seedFile: seeds }: OwnAccess): Environment {
  // the simulated city gives its sensors credentials, as an operator does
  const user = name === 'simulate' ? 'operator' : airUsers.find((known) => known === name)
  if (user === undefined) return {}
  const own = { NATS_USER: user, NATS_PASSWORD: '', NATS_PASSWORD_FILE: login(user).file }
  if (user !== 'gate') return own
  return {
    ...own,
    NATS_CALLOUT_USER: 'callout',
    NATS_CALLOUT_PASSWORD_FILE: login('callout').file,
    NATS_SYSTEM_USER: 'system',
    NATS_SYSTEM_PASSWORD_FILE: login('system').file,
    AIRPROOF_CALLOUT_SEED: '',
    AIRPROOF_CALLOUT_SEED_FILE: seeds,
  }
}
