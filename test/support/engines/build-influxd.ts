/**
 * Builds influxd, without its web pages, from its Go module: the sources are pinned by the
 * sums in `influxd/go.sum`. Its query language links a Rust library, which a helper named
 * pkg-config, found first on PATH, has cargo build on the way.
 */
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { onPath, programFile, runTool } from '../../../runtime/engines/tools.ts'
import { exitInWords, startChild } from '../../../runtime/machine/child.ts'
import type { Environment } from '../../../runtime/settings.ts'

const helper = 'github.com/influxdata/pkg-config@v0.2.7'
const program = 'github.com/influxdata/influxdb/v2/cmd/influxd'
const recipe = new URL('./influxd/', import.meta.url)
const packagesANote = 250

/** What the machine lacks to build it, for people. */
export function missingForBuild(env: Environment): string[] {
  const has = (names: readonly string[]): boolean =>
    names.some((name) => onPath(name, env) !== undefined)
  return [
    ...(has(['go']) ? [] : ['Go 1.25 or newer']),
    ...(has(['cargo']) ? [] : ['Rust (cargo)']),
    ...(has(['cc', 'gcc', 'clang']) ? [] : ['a C compiler']),
  ]
}

type BuildOptions = {
  readonly to: string
  readonly version: string
  readonly env: Environment
  readonly note: (line: string) => void
}

/** @throws with the compiler's last line */
export async function buildInfluxd({ to, version, env, note }: BuildOptions): Promise<void> {
  const go = onPath('go', env) ?? 'go'
  const folder = await mkdtemp(join(tmpdir(), 'airproof-influxd-'))
  try {
    const tools = join(folder, 'tools')
    await mkdir(tools)
    await runTool(go, ['install', helper], {
      env: { ...env, GOBIN: tools, GOFLAGS: '-mod=mod' },
      timeoutMs: 300_000,
    })
    // a copy: Go may write to the recipe's files
    const source = join(folder, 'source')
    await cp(recipe, source, { recursive: true })
    await compile(go, source, to, version, note, {
      ...env,
      ...(await rustToolchain(env)),
      PATH: [tools, env['PATH'] ?? ''].join(delimiter),
      PKG_CONFIG: join(tools, programFile('pkg-config')),
      GOFLAGS: '-mod=mod',
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function compile(
  go: string,
  source: string,
  to: string,
  version: string,
  note: (line: string) => void,
  env: Environment,
): Promise<void> {
  const flags = ['-v', '-trimpath', '-tags', 'sqlite_foreign_keys,sqlite_json']
  const linked = `-s -w -X main.version=v${version}`
  let packages = 0
  let lastLine = ''
  await using child = await startChild({
    command: go,
    args: ['build', ...flags, '-ldflags', linked, '-o', to, program],
    cwd: source,
    env,
    onLine: (line) => {
      lastLine = line
      packages++
      if (packages % packagesANote === 0) note(`building influxd: ${packages} packages so far`)
    },
  })
  const exit = await child.exited
  if (exit.code !== 0) throw new Error(`${exitInWords(exit)}: ${lastLine.slice(0, 200)}`)
}

/** The machine's own: the Rust library names another one, which would be downloaded. */
async function rustToolchain(env: Environment): Promise<Environment> {
  const rustup = onPath('rustup', env)
  if (env['RUSTUP_TOOLCHAIN'] !== undefined || rustup === undefined) return {}
  try {
    const [name] = (await runTool(rustup, ['default'], { env, timeoutMs: 20_000 })).split(' ')
    return name ? { RUSTUP_TOOLCHAIN: name } : {}
  } catch {
    return {}
  }
}
