/** The units of deploy/systemd as systemd reads them, and their processes without it. */
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { environment } from '../../runtime/process/config.ts'
import type { Environment } from '../../runtime/settings.ts'

const folder = 'deploy/systemd'

export type Unit = {
  readonly name: string
  /** `[key, value]` of its section [Service], of its drop-ins too, in order. */
  readonly service: readonly (readonly [string, string])[]
}

/** @param instance the word after the @ @throws if a line is none of systemd's */
export function readUnit(file: string, instance = ''): Unit {
  const name = file.replace('@.', `@${instance}.`)
  const files = [join(folder, file), ...globSync(join(folder, `${name}.d`, '*.conf'))]
  const service: (readonly [string, string])[] = []
  for (const path of files) {
    let section = ''
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      if (line === '' || line.startsWith('#')) continue
      const [, header] = /^\[(\w+)\]$/.exec(line) ?? []
      const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? []
      if (header !== undefined) section = header
      else if (key === undefined || value === undefined) throw new Error(`${path}: ${line}`)
      else if (section === 'Service') service.push([key, value.replaceAll('%i', instance)])
    }
  }
  return { name: basename(name), service }
}

/** Every value of a key. */
export const allOf = ({ service }: Unit, key: string): readonly string[] =>
  service.filter(([name]) => name === key).map(([, value]) => value)

/** The secrets that it is given: the name of each, and the file. */
export const credentialsOf = (unit: Unit): readonly (readonly [name: string, file: string])[] =>
  allOf(unit, 'LoadCredential').map((value) => {
    const [name = '', file = ''] = value.split(':')
    return [name, file]
  })

type Starting = {
  /** Paths of the unit, and those that it has here. */
  readonly moved: (text: string) => string
  /** For the copies of its credentials. */
  readonly within: string
  readonly env?: Environment
  readonly onLine: (line: string) => void
}

/** Its process with its environment, its files and its credentials, and nothing else. */
export async function startUnit(unit: Unit, starting: Starting): Promise<Child> {
  const { moved, within, env, onLine } = starting
  const credentials = join(within, `credentials-${unit.name}`)
  // those of a former start
  rmSync(credentials, { recursive: true, force: true })
  mkdirSync(credentials, { mode: 0o700 })
  for (const [name, file] of credentialsOf(unit)) {
    copyFileSync(moved(file), join(credentials, name))
    chmodSync(join(credentials, name), 0o400)
  }
  const pairs = unit.service.flatMap(([key, value]) => {
    if (key === 'Environment') return value.split(' ')
    if (key === 'EnvironmentFile') return linesOf(moved(value.replace(/^-/, '')))
    return []
  })
  const own = pairs.map((pair) => {
    const at = pair.indexOf('=')
    const value = pair.slice(at + 1).replace(/^"(.*)"$/, '$1')
    return [pair.slice(0, at), moved(value.replaceAll('%d', credentials))]
  })
  const [command = '', ...args] = (allOf(unit, 'ExecStart')[0] ?? '').split(' ').map(moved)
  const { PATH, HOME, TMPDIR, AIRPROOF_TEST_RUN } = environment()
  return await startChild({
    command,
    args,
    env: { PATH, HOME, TMPDIR, AIRPROOF_TEST_RUN, ...Object.fromEntries(own), ...env },
    onLine,
  })
}

/** None if the file is not there, as after a `-`. */
const linesOf = (file: string): readonly string[] =>
  globSync(file).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('=')),
  )
