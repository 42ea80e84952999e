/** What this machine must give: programs, a folder, room, private files, ports. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findAnvil } from '../../runtime/engines/find-anvil.ts'
import { installedNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { codeOf } from '../../runtime/exit.ts'
import { leastRoomBytes, mebibytes, roomBytesOf } from '../../runtime/machine/data-folder.ts'
import { isRunning, listProcesses } from '../../runtime/machine/process-list.ts'
import { type Environment, readSettings, type SettingsSource } from '../../runtime/settings.ts'
import { type SettingName, settingRows } from '../../runtime/settings-table.ts'
import { ourVersion } from '../../runtime/version.ts'
import { takenChosenPorts } from '../shell/chosen-ports.ts'
import type { Check, World } from './check.ts'
import { broken, type Finding, ok, orOk, warning } from './finding.ts'

export const versionCheck: Check = {
  name: 'version',
  needs: 'nothing',
  run: async ({ source, running, config }) => {
    const ours = ourVersion()
    const here = `airproof ${ours}, Node ${process.versions.node}`
    const findings: Finding[] = [
      ok(config.natsUrl === undefined ? `${here}, ${await enginesInWords(source.env)}` : here),
    ]
    if (running?.version !== undefined && running.version !== ours)
      findings.push(
        warning(
          `airproof ${running.version} is up on ${config.dataFolder}, and this command is ${ours}`,
          'stop it and start it with this version, or use the command of that version',
        ),
      )
    return findings
  },
}

/** Those that `up` starts; none is fetched here. */
async function enginesInWords(env: Environment): Promise<string> {
  const [server, anvil] = await Promise.all([installedNatsServer(env), findAnvil(env)])
  return `nats-server ${server ?? 'is fetched when `up` starts'}, anvil ${anvil ?? 'is not here, so nothing is anchored without CHAIN_RPC_URL'}`
}

export const folderCheck: Check = {
  name: 'data folder',
  needs: 'nothing',
  run: ({ config: { dataFolder } }) => {
    const fault = folderFault(dataFolder)
    if (fault !== undefined) return [fault]
    return [ok(existsSync(dataFolder) ? dataFolder : `${dataFolder}: made at the first start`)]
  },
}

function folderFault(folder: string): Finding | undefined {
  const there = nearestThere(folder)
  if (!statSync(there).isDirectory())
    return broken(`${there} is a file`, 'move it away, or choose another folder with --data')
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return broken(
      `not allowed to write into ${there} (${codeOf(error) ?? 'no reason'})`,
      'make sure that it belongs to you and is neither read-only nor immutable',
    )
  }
  const mode = there === folder && process.platform !== 'win32' ? statSync(there).mode & 0o777 : 0
  if ((mode & 0o077) === 0) return undefined
  return warning(
    `others of this machine may look into ${folder} (mode ${mode.toString(8)}), which holds passwords and keys`,
    `chmod 700 ${folder}`,
  )
}

/** The folder, or the nearest one above it that is there. */
function nearestThere(path: string): string {
  const parent = dirname(path)
  return existsSync(path) || parent === path ? path : nearestThere(parent)
}

/** Some days of a small city: time to make room. */
const fairRoom = 4

export const diskCheck: Check = {
  name: 'disk',
  needs: 'nothing',
  run: ({ config: { dataFolder }, needsBytes }) => {
    const roomBytes = roomBytesOf(nearestThere(dataFolder))
    const words = `${dataFolder} has ${mebibytes(roomBytes)} MiB left`
    const needs = `needs ${mebibytes(needsBytes)}`
    if (roomBytes < needsBytes)
      return [broken(`${words} and ${needs}`, 'make room, or choose another folder with --data')]
    return [
      roomBytes < fairRoom * needsBytes
        ? warning(`${words}; below ${mebibytes(needsBytes)} nothing is stored`, 'make room soon')
        : ok(words),
    ]
  },
}

export const defaultNeedsBytes = leastRoomBytes

/** In the data folder; with any of them one can act as the operator. */
const secretFiles = ['anchor.key', 'nats-access.json', 'demo.json', 'ready.json', 'secret-key']

export const filesCheck: Check = {
  name: 'file modes',
  needs: 'nothing',
  run: (world) => {
    const files = [...new Set([...ownFiles(world), ...namedFiles(world.source)])]
    const there = files.filter((file) => existsSync(file))
    return orOk(there.flatMap(modeFindings), `${there.length} files with secrets are private`)
  },
}

const ownFiles = ({ config: { dataFolder } }: World): readonly string[] =>
  secretFiles.map((name) => join(dataFolder, name))

function namedFiles(source: SettingsSource): readonly string[] {
  const { env } = source
  const named = settingRows
    .filter(([, { is }]) => is === 'secret')
    .map(([name]) => env[`${name}_FILE`])
  const { text } = readSettings(source)
  const keys = (
    [
      'ANCHOR_KEY_FILE',
      'ANCHOR_OWNER_KEY_FILE',
      'AIRPROOF_TLS_KEY_FILE',
      'NATS_CREDS',
    ] as const satisfies readonly SettingName[]
  ).map((name) => text(name))
  return [...named, ...keys].filter((file) => file !== undefined)
}

/** A file that others may read, in a folder that they may enter. */
function modeFindings(file: string): readonly Finding[] {
  if (process.platform === 'win32') return []
  const mode = statSync(file).mode & 0o777
  const isOpen = (mode & 0o077) !== 0 && (statSync(dirname(file)).mode & 0o011) !== 0
  // the anchor process refuses to start with such a key
  const isKey = file.endsWith('anchor.key')
  if (!isOpen && !(isKey && (mode & 0o077) !== 0)) return []
  const what = `${file} holds a secret, and others may read it (mode ${mode.toString(8)})`
  return [(isKey ? broken : warning)(what, `chmod 600 ${file}`)]
}

export const portsCheck: Check = {
  name: 'ports',
  needs: 'nothing',
  run: async ({ source, config, running }) => {
    const own = listProcesses(config.dataFolder).filter(({ pid }) => isRunning(pid))
    if (running !== undefined || own.length > 0)
      return [ok('in use by the processes of this data folder')]
    const { port } = readSettings(source)
    const taken = await takenChosenPorts({
      api: port('AIRPROOF_API_PORT'),
      dashboard: port('AIRPROOF_DASHBOARD_PORT'),
      push: port('AIRPROOF_PUSH_PORT'),
      nats: port('AIRPROOF_NATS_PORT'),
      mqtt: port('AIRPROOF_MQTT_PORT'),
      admin: port('AIRPROOF_ADMIN_PORT'),
    })
    return orOk(
      taken.map((words) => broken(words)),
      'those that are chosen are free',
    )
  },
}
