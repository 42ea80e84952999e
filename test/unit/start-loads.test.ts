import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Packages, and parts of Node, that are loaded once these modules are. */
function loadedBy(...specifiers: readonly string[]): ReadonlySet<string> {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({
      load(url, context, next) {
        loaded.add(/.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1] ?? '')
        return next(url, context)
      },
    })
    for (const specifier of ${JSON.stringify(specifiers)}) await import(specifier)
    for (const part of process.moduleLoadList) loaded.add(part)
    console.log(JSON.stringify([...loaded]))
    process.exit()
  `
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  return new Set(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[])
}

const fetchOfNode = 'NativeModule internal/deps/undici/undici'

const notNeeded = [
  fetchOfNode,
  // text for a terminal
  'pino-pretty',
  // the first value to check
  'ajv',
  // a collector
  '@opentelemetry/api',
  // another store
  '@influxdata/influxdb-client',
  // the first delivery, or question to the API
  'undici',
]

/** Readings that were let go. */
const archiveReaders = ['hyparquet', 'merkletreejs']

test.each([
  ['pipeline', [...notNeeded, ...archiveReaders, 'koa', 'viem']],
  ['api', [...notNeeded, 'viem']],
  ['gate', [...notNeeded, ...archiveReaders, 'viem']],
  ['notifier', [...notNeeded, ...archiveReaders, 'koa', 'viem']],
  ['archive', [...notNeeded, 'koa', 'viem']],
  ['dashboard', [...notNeeded, ...archiveReaders, 'nodemailer', 'viem']],
])('the %s starts without what it may need later or never', (name, without) => {
  const main = `${process.cwd()}/${name}/main.ts`
  const loaded = loadedBy(`${process.cwd()}/runtime/process/process.ts`, main)
  expect(loaded).toContain('pino')
  expect(without.filter((part) => loaded.has(part))).toEqual([])
})

test('a command that asks something starts without what a process needs', () => {
  const loaded = loadedBy(`${process.cwd()}/cli/main.ts`, `${process.cwd()}/cli/status.ts`)
  expect(loaded).toContain('@nats-io/transport-node')
  expect(['pino', 'prom-client', ...notNeeded].filter((part) => loaded.has(part))).toEqual([])
})

test('an import of node:http loads the fetch of Node', () => {
  expect(loadedBy('node:http')).toContain(fetchOfNode)
})
