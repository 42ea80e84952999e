import { nearest } from '../core/nearest.ts'
import { WrongUsage } from '../runtime/exit.ts'
import type { Command } from './shell/command.ts'
import { processCommand } from './shell/process-command.ts'
import { storeFlags } from './shell/shared-flags.ts'

/** Loaded when called, so that no command waits for what another one imports. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).command,
  up: async () => (await import('./up/up.ts')).command,
  status: async () => (await import('./status.ts')).command,
  doctor: async () => (await import('./doctor/doctor.ts')).command,
  settings: async () => (await import('./settings.ts')).command,
  sensors: async () => (await import('./sensors/sensors.ts')).command,
  applications: async () => (await import('./applications.ts')).command,
  access: async () => (await import('./access/access.ts')).command,
  store: async () => (await import('./store/store.ts')).command,
  streams: async () => (await import('./streams.ts')).command,
  backup: async () => (await import('./backup/backup.ts')).command,
  restore: async () => (await import('./backup/restore.ts')).command,
  upgrade: async () => (await import('./upgrade.ts')).command,
  simulate: async () => (await import('./simulate/simulate.ts')).command,
  replay: async () => (await import('./replay/replay.ts')).command,
  rejected: async () => (await import('./rejected.ts')).command,
  verify: async () => (await import('./verify.ts')).command,
  audit: async () => (await import('./audit/audit.ts')).command,
  export: async () => (await import('./export/export.ts')).command,
  accounts: async () => (await import('./accounts.ts')).command,
  keys: async () => (await import('./keys.ts')).command,
  webhooks: async () => (await import('./webhooks.ts')).command,
  'audit-log': async () => (await import('./audit-log.ts')).command,
  map: async () => (await import('./map/map.ts')).command,
  pipeline: async () =>
    processCommand({
      name: 'pipeline',
      summary: 'judge, score and store what sensors publish (one process)',
      load: async () => (await import('../pipeline/main.ts')).run,
      options: storeFlags,
    }),
  notifier: async () =>
    processCommand({
      name: 'notifier',
      summary: 'send what happens to webhooks, signed (one process)',
      load: async () => (await import('../notifier/main.ts')).run,
    }),
  gate: async () =>
    processCommand({
      name: 'gate',
      summary: 'let sensors in and take what their firmware pushes (one process)',
      load: async () => (await import('../gate/main.ts')).run,
    }),
  anchor: async () => (await import('./anchor/anchor.ts')).command,
  archive: async () => (await import('./archive/archive.ts')).command,
  mirror: async () => (await import('./mirror.ts')).command,
  api: async () =>
    processCommand({
      name: 'api',
      summary: 'answer /v1 over HTTP (one process)',
      load: async () => (await import('../api/main.ts')).run,
      options: storeFlags,
    }),
  dashboard: async () =>
    processCommand({
      name: 'dashboard',
      summary: 'the pages for people: accounts, keys, map, proofs (one process)',
      load: async () => (await import('../dashboard/main.ts')).run,
    }),
}

/** @throws WrongUsage there is none of this name */
export async function loadCommand(name: string): Promise<Command> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load !== undefined) return await load()
  const meant = nearest(name, Object.keys(commands))
  const hint = meant === undefined ? 'see: airproof --help' : `did you mean "${meant}"?`
  throw new WrongUsage(`there is no command "${name}": ${hint}`)
}

/** Each command and what it does, a line each. */
export async function commandList(): Promise<readonly string[]> {
  const widest = Math.max(...Object.keys(commands).map(({ length }) => length))
  return await Promise.all(
    Object.entries(commands).map(async ([name, load]) => {
      const { summary } = await load()
      return `${name.padEnd(widest)} ${summary}`
    }),
  )
}
