/** The packages for Python and TypeScript, installed as a stranger would, against a real API. */
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { served as document } from '../../api/openapi/served.ts'
import { served, typescriptFile } from '../../clients/generate/generated.ts'
import { openApiTools, typescriptTypes } from '../../clients/generate/typescript.ts'
import { seqOf } from '../../core/air/reading.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import { cacheFolder } from '../../runtime/engines/engine-cache.ts'
import { npmPackages } from '../../runtime/engines/npm-packages.ts'
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import type { Environment } from '../../runtime/settings.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultyProxy, faultyProxy } from '../support/faulty-proxy.ts'
import { pythonPackage } from '../support/python-package.ts'
import { readingOf } from '../support/readings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { env } = process
const timeoutMs = 300_000
const clients = new URL('../../clients/', import.meta.url)
const programs = new URL('../support/clients/', import.meta.url)
const root = fileURLToPath(new URL('../../', import.meta.url))
const python = onPath('python3', env) ?? onPath('python', env) ?? 'python3'
const sensor = 'NGR-LOS-IKJ-001' as SensorId
const startMs = Date.UTC(2024, 0, 1)
const monthMs = Date.UTC(2024, 1, 1)
const endMs = Date.UTC(2025, 0, 1)
const provenMs = Math.floor((Date.now() - dayMs) / minuteMs) * minuteMs

let api: AnchoredApi
let proxy: FaultyProxy
let folder: Disposable & { readonly path: string }
let newestMs = Date.now() - 60 * minuteMs
beforeAll(async () => {
  folder = temporaryFolder()
  api = await anchoredApi({ isStarted: false })
  // a leap year of five minutes, some values missing
  const rows = Array.from({ length: (endMs - startMs) / (5 * minuteMs) }, (_, i) =>
    readingOf({
      sensor,
      timeMs: startMs + i * 5 * minuteMs,
      seq: seqOf(partitionOf(sensor), 1_000_000 + i),
      pm25: (i * 7) % 50_000,
      pm10: i % 13 === 0 ? null : (i * 11) % 60_000,
      co2: 40_000 + (i % 1_000),
      temperature: (i % 4_000) - 500,
      humidity: i % 10_000,
    }),
  )
  for (let at = 0; at < rows.length; at += 5_000)
    await api.store.writeBatch(rows.slice(at, at + 5_000))
  await api.register({ id: sensor })
  await api.commit([{ sensor, timeMs: provenMs, pm25: 3_000 }])
  await api.startApi()
  await api.anchored()
  proxy = await faultyProxy(api.url)
}, timeoutMs)
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await api?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

/** As the store has them: the time, and the five values in hundredths. */
function rowsInSql(untilMs: number): readonly [number, string] {
  using db = new DatabaseSync(api.storeFile, { readOnly: true })
  const sql =
    'select t, pm25, pm10, co2, temperature, humidity from reading where t >= ? and t < ? order by t'
  const lines = db
    .prepare(sql)
    .all(startMs, untilMs)
    .map((row) =>
      Object.values(row)
        .map((value) => value ?? '')
        .join(','),
    )
  return [lines.length, hash('sha256', lines.join('\n'))]
}

/**
 * Runs a program against the proxy, which refuses its third request and cuts the answer to its
 * seventh. A line `next` on its stderr asks for a reading; before each second one its stream is cut.
 */
async function runAgainst(
  file: string,
  args: readonly string[],
  more: Environment,
): Promise<unknown> {
  proxy.be((path, count) => {
    if (count === 3) return 'too many'
    return count === 7 && path.startsWith('/v1/readings') ? { cutAfter: 20_000 } : 'pass'
  })
  const child = spawn(file, args, { env: { ...env, ...more }, timeout: timeoutMs })
  let [out, err] = ['', '']
  let [wanted, given] = [0, 0]
  child.stdout.on('data', (text) => (out += String(text)))
  child.stderr.on('data', (text) => {
    err += String(text)
    wanted = err.split('\n').filter((line) => line === 'next').length
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let code: number | null | undefined
  void ended.then((said) => (code = said))
  const listening = () => proxy.underWay('/v1/stream') > 0
  for (;;) {
    await eventually('it asks for a reading, or ends', () => code !== undefined || wanted > given, {
      withinMs: timeoutMs,
    })
    if (code !== undefined) break
    given++
    if (given % 2 === 1) await eventually('it listens', listening)
    else proxy.cut('/v1/stream')
    newestMs += minuteMs
    await api.commit([{ sensor, timeMs: newestMs, pm25: given * 100 }])
  }
  expect({ code, err: err.replaceAll('next\n', '') }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

const expectHindered = (): void => {
  expect(proxy.asked.filter(({ deed }) => deed === 'too many')).toHaveLength(1)
  expect(proxy.asked.filter(({ deed }) => typeof deed === 'object')).toHaveLength(1)
  proxy.asked.length = 0
}

test('the Python package gives a sensor-year as a DataFrame, equal to the rows of the store', {
  timeout: timeoutMs,
}, async ({ skip }) => {
  const needed = [
    await pythonPackage({ name: 'httpx', version: '0.28.1', withNeeded: true }, env),
    await pythonPackage({ name: 'pandas', version: '3.1.1', withNeeded: true }, env),
  ]
  const folders: string[] = []
  for (const one of needed) {
    if ('missing' in one) return skip(one.missing)
    folders.push(one.folder)
  }
  const installed = join(folder.path, 'python')
  const source = fileURLToPath(new URL('python', clients))
  const what = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', installed, source]
  await runTool(python, what, { env, timeoutMs })

  const times = [provenMs, startMs, monthMs, endMs].map(formatIsoMs)
  const program = fileURLToPath(new URL('use_airproof.py', programs))
  const results = await runAgainst(python, [program, proxy.url, api.key, sensor, ...times], {
    PYTHONPATH: [installed, ...folders].join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
  })
  expect(results).toEqual({
    year: rowsInSql(endMs),
    columns: ['datetime64[us, UTC]', 'float64', 'str'],
    month: rowsInSql(monthMs),
    sensors: [sensor],
    area: 'Ikeja',
    refused: [404, 'area_not_found', true],
    verified: [sensor, true, expect.any(Number)],
    kept: true,
    changed: 'format',
    // the one of the log, and then what the first stream gave
    changes: [1],
    current: [0],
    async_changes: [2],
    stream: [
      ['reading', 1],
      ['reading', 2],
    ],
    async_stream: [
      ['reading', 3],
      ['reading', 4],
    ],
  })
  expectHindered()
})

test('the Python package is typed: mypy --strict finds nothing', { timeout: timeoutMs }, async ({
  skip,
}) => {
  const version = '2.4.1'
  const mypy = await pythonPackage({ name: 'mypy', version, withNeeded: true }, env)
  const httpx = await pythonPackage({ name: 'httpx', version: '0.28.1', withNeeded: true }, env)
  const stubs = await pythonPackage(
    { name: 'pandas-stubs', version: '3.1.0.261029', withNeeded: true },
    env,
  )
  for (const one of [mypy, httpx, stubs]) if ('missing' in one) return skip(one.missing)
  if ('missing' in mypy || 'missing' in httpx || 'missing' in stubs) return
  const source = fileURLToPath(new URL('python', clients))
  const program = fileURLToPath(new URL('use_airproof.py', programs))
  const args = [
    '-m',
    'mypy',
    '--strict',
    '--config-file',
    join(source, 'pyproject.toml'),
    '--cache-dir',
    // of pandas-stubs, which takes longer to read than everything else
    join(cacheFolder(env), `mypy-${version}-cache`),
  ]
  const packages = [mypy.folder, httpx.folder, stubs.folder].join(delimiter)
  const paths = { PYTHONPATH: packages, MYPYPATH: join(source, 'src') }
  const checked = { env: { ...env, ...paths }, timeoutMs }
  const samples = join(folder.path, 'samples')
  await mkdir(samples)
  const written = await writeSamples('Python', samples, '.py')
  const files = [join(source, 'src/airproof'), program, ...written]
  expect(await runTool(python, [...args, ...files], checked)).toContain('Success')
})

/** The samples of the document in one language, each as a file of its own. */
async function writeSamples(label: string, into: string, ending: string): Promise<string[]> {
  const files = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId, 'x-codeSamples': samples }) => ({
      file: join(into, `sample_${operationId}${ending}`),
      text: samples.find((one) => one.label === label)?.source ?? '',
    })),
  )
  await Promise.all(files.map(({ file, text }) => writeFile(file, text)))
  return files.map(({ file }) => file)
}

test('the types for TypeScript are as openapi-typescript makes them from the document', {
  timeout: timeoutMs,
}, async ({ skip }) => {
  const made = await typescriptTypes(served, env)
  if ('missing' in made) return skip(made.missing)
  const isSame = (await readFile(typescriptFile, 'utf8')) === made.text
  expect(isSame, 'run npm run clients').toBe(true)
})

test('the TypeScript package, packed, gives the same year', { timeout: timeoutMs }, async ({
  skip,
}) => {
  const tools = await npmPackages(...openApiTools, env)
  const npm = onPath('npm', env)
  if ('missing' in tools) return skip(tools.missing)
  if (npm === undefined) return skip('npm is not on this machine')
  // a copy, which finds the compiler and openapi-fetch where ours are
  const source = join(folder.path, 'source')
  await cp(fileURLToPath(new URL('typescript', clients)), source, { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder.path, 'node_modules'), 'junction')
  const home = join(folder.path, 'typescript')
  const packages = join(home, 'node_modules')
  await mkdir(packages, { recursive: true })
  const packed = await runTool(npm, ['pack', '--json', '--pack-destination', home, source], {
    env,
    timeoutMs,
  })
  const [{ filename, files }] = JSON.parse(packed.slice(packed.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ]
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'README.md',
      'dist/index.js',
      'dist/index.d.ts',
      'verifier/airproof-verify.js',
    ]),
  )
  await runTool('tar', ['-xzf', join(home, filename), '-C', home], { env, timeoutMs })
  await rename(join(home, 'package'), join(packages, 'airproof-client'))
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types'])
    await symlink(join(root, 'node_modules', name), join(packages, name), 'junction')

  await cp(new URL('use-airproof.mts', programs), join(home, 'program.mts'))
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    skipLibCheck: true,
  }
  const samples = await writeSamples('TypeScript', home, '.mts')
  await writeFile(
    join(home, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['program.mts', ...samples] }),
  )
  // the TypeScript that most programs have
  const compiler = join(tools.folder, 'node_modules/typescript/bin/tsc')
  await runTool(process.execPath, [compiler, '-p', home], { env, timeoutMs })
  const times = [provenMs, startMs, endMs].map(formatIsoMs)
  const program = join(home, 'program.mjs')
  const results = await runAgainst(
    process.execPath,
    [program, proxy.url, api.key, sensor, ...times],
    {},
  )
  expect(results).toEqual({
    year: rowsInSql(endMs),
    sensors: [sensor],
    area: 'Ikeja',
    refused: [404, 'sensor_not_found'],
    verified: [true, sensor, true],
    pinned: false,
    changes: [expect.any(Number), 0],
    stream: [
      ['reading', expect.any(Number)],
      ['reading', expect.any(Number)],
    ],
  })
  expectHindered()
})
