/** The OpenAPI document as other tools accept it, and the clients that they generate from it. */
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatIsoMs } from '../../core/iso-time.ts'
import { minuteMs } from '../../core/time.ts'
import { npmPackages } from '../../runtime/engines/npm-packages.ts'
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import { eventually } from '../support/eventually.ts'
import { pythonPackage } from '../support/python-package.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Customer, type WebhookApi, webhookApi } from '../support/webhook-api.ts'

const { env } = process
const timeoutMs = 200_000
const clients = new URL('../support/clients/', import.meta.url)
const sensor = 'NGR-LOS-IKJ-001'
const timeMs = Date.now() - 5 * minuteMs

let api: WebhookApi
let ada: Customer
let folder: Disposable & { readonly path: string }
beforeAll(async () => {
  folder = temporaryFolder()
  api = await webhookApi()
  ada = await api.customer()
  await api.register({ id: sensor })
  await api.commit([{ sensor, timeMs, pm25: 3_000 }])
  await eventually('it is listed', async () => {
    const { total } = (await (await api.get('/v1/sensors')).json()) as { total: number }
    return total === 1
  })
  const document = await (await fetch(`${api.url}/v1/openapi.json`)).text()
  await writeFile(join(folder.path, 'openapi.json'), document)
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const python = onPath('python3', env) ?? onPath('python', env) ?? 'python3'
const document = (): string => join(folder.path, 'openapi.json')
const withPath = (path: string) => ({ ...env, PYTHONPATH: path })

test('openapi-spec-validator accepts the document', { timeout: timeoutMs }, async ({ skip }) => {
  const validator = { name: 'openapi-spec-validator', version: '0.9.0', withNeeded: true }
  const tools = await pythonPackage(validator, env)
  if ('missing' in tools) return skip(tools.missing)
  const args = ['-m', 'openapi_spec_validator', document()]
  const output = await runTool(python, args, { env: withPath(tools.folder), timeoutMs })
  expect(output).toContain('OK')
})

const openApiTools = [
  'openapi-tools-1',
  ['@redocly/cli@2.77.0', 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'],
] as const

test('redocly finds neither an error nor a warning', { timeout: timeoutMs }, async ({ skip }) => {
  const tools = await npmPackages(...openApiTools, env)
  if ('missing' in tools) return skip(tools.missing)
  const lint = join(tools.folder, 'node_modules/@redocly/cli/bin/cli.js')
  const output = await runTool(
    process.execPath,
    [lint, 'lint', document(), '--extends', 'recommended', '--format', 'json'],
    {
      env: { ...env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      timeoutMs,
    },
  )
  const { totals } = JSON.parse(output.slice(output.indexOf('{'))) as { totals: object }
  expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
})

test('a Python client generated from it works', { timeout: timeoutMs }, async ({ skip }) => {
  const generator = { name: 'openapi-python-client', version: '0.29.1', withNeeded: true }
  const tools = await pythonPackage(generator, env)
  if ('missing' in tools) return skip(tools.missing)
  const made = join(folder.path, 'air_client')
  const settings = join(folder.path, 'settings.yaml')
  await writeFile(settings, 'post_hooks: []\n')
  const generate = ['generate', '--path', document(), '--output-path', made, '--meta', 'none']
  const run = { env: withPath(tools.folder), timeoutMs }
  const args = [
    '-m',
    'openapi_python_client',
    ...generate,
    '--config',
    settings,
    '--fail-on-warning',
  ]
  await runTool(python, args, run)

  const free = await api.customer('free')
  const program = new URL('client.py', clients).pathname
  const output = await runTool(
    python,
    [program, api.url, ada.key, free.key, sensor, formatIsoMs(timeMs)],
    {
      env: withPath([folder.path, tools.folder].join(process.platform === 'win32' ? ';' : ':')),
      timeoutMs,
    },
  )
  const readingTime = formatIsoMs(timeMs).replace('Z', '000+00:00')
  expect(JSON.parse(output)).toEqual({
    sensors: [1, 1, sensor, 6.6],
    status: ['online', false, 30],
    shapes: {
      full: ['ReadingsPage', 30, readingTime],
      flat: ['FlatReadingsPage', 30, readingTime],
      nested: ['NestedReadingsPage', 30, readingTime],
    },
    areas: ['Ikeja'],
    area: [90, 'hour', 1],
    verified: ['pending', 3_000],
    not_there: 'sensor_not_found',
    made: [100.5, true, 'whsec_'],
    changed: 'by a generated client',
    deliveries: 0,
    deleted: true,
    listed: 0,
    wrong: ['events', 'url'],
    not_premium: 'premium_required',
    too_often: ['quota_exceeded', true],
  })
})

test('a TypeScript program typed with it compiles and works', { timeout: timeoutMs }, async ({
  skip,
}) => {
  const tools = await npmPackages(...openApiTools, env)
  if ('missing' in tools) return skip(tools.missing)
  const run = { env, timeoutMs }
  const program = (path: string): string => join(tools.folder, 'node_modules', path)
  // in the folder of the packages that it imports
  const home = join(folder.path, 'typed')
  await mkdir(home)
  const generate = [
    program('openapi-typescript/bin/cli.js'),
    document(),
    '-o',
    join(home, 'api.d.ts'),
  ]
  await runTool(process.execPath, generate, run)
  await copyFile(new URL('typed-client.mts', clients), join(home, 'typed-client.mts'))
  await mkdir(join(home, 'node_modules'))
  await symlink(program('openapi-fetch'), join(home, 'node_modules/openapi-fetch'), 'junction')
  const compile = {
    compilerOptions: {
      strict: true,
      noUncheckedIndexedAccess: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      types: [],
      lib: ['es2022', 'dom'],
      outDir: join(home, 'out'),
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: true,
    },
    files: ['typed-client.mts'],
  }
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify(compile))
  await runTool(process.execPath, [program('typescript/bin/tsc'), '-p', home], run)
  const output = await runTool(
    process.execPath,
    [join(home, 'out/typed-client.mjs'), api.url, ada.key, sensor, formatIsoMs(timeMs)],
    run,
  )
  expect(JSON.parse(output)).toEqual({
    sensor: 6.6,
    full: [30, 30],
    flat: 30,
    nested: 30,
    series: 1,
    verified: 'pending',
    made: [true, true],
    gone: true,
    failed: 'area_not_found',
  })
})
