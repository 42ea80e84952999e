/** What `npm pack` makes runs where npm puts it, with the packages that an operator gets and no others. */
import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureBuiltPages } from '../../cli/up/built-pages.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Lock = {
  readonly packages: Readonly<
    Record<
      string,
      { readonly dev?: boolean; readonly devOptional?: boolean; readonly optional?: boolean }
    >
  >
}
type Outcome = { readonly code: number | null; readonly out: string; readonly err: string }

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())
let tarball = ''

beforeAll(async () => {
  const env = environment()
  // as `prepack`, but other tests read the pages meanwhile
  await ensureBuiltPages({ env, note: () => undefined })
  execFileSync(process.execPath, ['release/build.ts'], { env, stdio: 'ignore' })
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder.path]
  tarball = join(folder.path, execFileSync('npm', args, { env, encoding: 'utf8' }).trim())
})

/** As `npm install` leaves it. @returns the command */
function install(name: string, { withOptional = true } = {}): string {
  const modules = join(folder.path, name, 'node_modules')
  mkdirSync(join(modules, 'airproof'), { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', join(modules, 'airproof'), '--strip-components=1'])
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock
  for (const [path, { dev, devOptional, optional }] of Object.entries(packages)) {
    const isNested = path.lastIndexOf('node_modules/') > 0
    const isLeftOut = dev === true || devOptional === true || (optional === true && !withOptional)
    if (!path.startsWith('node_modules/') || isNested || isLeftOut || !existsSync(path)) continue
    const target = join(folder.path, name, path)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(resolve(path), target)
  }
  return join(modules, 'airproof/bin/airproof.mjs')
}

const run = (node: string, program: string, ...args: string[]) =>
  new Promise<Outcome>((done) => {
    const cwd = join(dirname(program), '../../..')
    const child = execFile(node, [program, ...args], { cwd, env: environment() }, (_, out, err) =>
      done({ code: child.exitCode, out, err }),
    )
  })

test('a reading goes through and is proven, from an empty folder', async () => {
  const program = install('whole')
  const version = await run(process.execPath, program, '--version')
  expect(version.out).toMatch(/^\d+\.\d+\.\d+\S* \(commit [0-9a-f]{40}(-dirty)?\)\n$/)
  const help = await run(process.execPath, program, '--help')
  expect([help.code, help.err]).toEqual([0, ''])
  // the pages that go from nothing to a city, for those who have no clone
  expect(readdirSync(join(dirname(program), '../docs/city'))).toEqual(readdirSync('docs/city'))

  const data = join(folder.path, 'data')
  const printed: string[] = []
  const ports = ['api', 'dashboard', 'mqtt', 'push', 'admin'].flatMap((name) => [
    `--${name}-port`,
    '0',
  ])
  await using up = await startChild({
    command: process.execPath,
    args: [program, 'up', '--data', data, '--demo', '3', ...ports],
    cwd: join(folder.path, 'whole'),
    env: { ...environment(), ANCHOR_INTERVAL: '2s' },
    onLine: (line) => printed.push(line),
  })
  const instance = await eventually(
    'ready.json is there',
    () => {
      if (!up.isAlive()) throw new Error(printed.join('\n'))
      return readRunningInstance(data)
    },
    { withinMs: 180_000 },
  )
  const get = (url: string): Promise<Response> =>
    fetch(url, { headers: { authorization: `Bearer ${instance.key}` } })
  await eventually(
    'a reading is proven',
    async () => {
      const answer = await (await get(`${instance.api}/v1/readings?limit=1&order=asc`)).json()
      const [reading] = (answer as { readings: { blockchain: { verified: boolean } }[] }).readings
      return reading?.blockchain.verified === true
    },
    { everyMs: 1_000 },
  )
  for (const url of [
    `${instance.dashboard}/`,
    `${instance.api}/v1/docs`,
    `${instance.api}/v1/docs/swagger-ui.js`,
    `${instance.api}/proof/airproof-verify.js`,
  ]) {
    const answer = await get(url)
    expect([url, answer.status]).toEqual([url, 200])
    await answer.bytes() // a body that is not read keeps its socket after the server has gone
  }
  await up.stop()
})

test('without its optional packages it says what is missing', async () => {
  const program = install('bare', { withOptional: false })
  const ran = await run(process.execPath, program, '--version')
  expect([ran.code, ran.err]).toEqual([0, ''])
  const old = join(folder.path, 'old.mjs')
  writeFileSync(
    old,
    `Object.defineProperty(process, 'version', { value: 'v20.20.2' })
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })
`,
  )
  const refused = await new Promise<Outcome>((done) => {
    const args = ['--import', old, program, 'up']
    const child = execFile(process.execPath, args, { env: environment() }, (_, out, err) =>
      done({ code: child.exitCode, out, err }),
    )
  })
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('install it with its optional packages')
})
