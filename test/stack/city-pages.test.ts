/**
 * The pages that go from nothing to a city, to the letter: each command is run here, with the places
 * that it names moved into a folder, or is in one of the lists below with the reason why not. The page for
 * compose is in compose.test.ts; the servers of docs/growing.md are those of cluster-faults.test.ts too.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { commands } from '../../cli/commands.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { runTool } from '../../runtime/engines/tools.ts'
import { exitCodes } from '../../runtime/exit.ts'
import type { Child } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { environment } from '../../runtime/process/config.ts'
import type { Environment } from '../../runtime/settings.ts'
import { anvilAccount, testAnvil } from '../support/anvil.ts'
import { startCluster } from '../support/chaos/cluster.ts'
import { commandsOf, orLoaded } from '../support/city-pages.ts'
import { findInfluxd } from '../support/engines/find-influxd.ts'
import { startInfluxd } from '../support/engines/influxd.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, testInflux } from '../support/influx.ts'
import { readManifests } from '../support/kubernetes.ts'
import { readUnit, startUnit } from '../support/systemd.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { writeTinyPages } from '../support/tiny-pages.ts'

/** They make users of the machine, or install what is in this clone already, and need root. */
const needsRoot = [
  /^useradd /,
  /^(cd \/opt\/airproof && )?npm install \.\/airproof\.tgz$/,
  /^pip install /,
  /^ln -sf /,
  /^systemctl daemon-reload$/,
  /^chown -R nats /,
]

type Machine = {
  readonly sh: (line: string, env?: Environment) => Promise<string>
  readonly moved: (text: string) => string
}

/** Folders of a machine, in a folder of the test; `npx airproof` is this clone. */
function machineIn(folder: string, more: readonly (readonly [string, string])[] = []): Machine {
  const places = [
    ['/opt/airproof', join(folder, 'opt')],
    ['/etc/airproof', folder],
    ['/etc/nats', join(folder, 'etc-nats')],
    ['/etc/systemd/system', join(folder, 'units')],
    ['/var/lib/airproof', join(folder, 'data')],
    ['/usr/bin/node', process.execPath],
    ['node_modules/airproof', resolve('.')],
    ...more,
  ] as const
  const moved = (text: string): string =>
    places.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
  for (const place of ['opt', 'etc-nats', 'units', 'data'])
    mkdirSync(join(folder, place), { recursive: true })
  const state = join(folder, 'shell-state')
  writeFileSync(state, '')
  const airproof = `${process.execPath} ${resolve('bin/airproof.mjs')}`
  return {
    moved,
    // as one shell: its folder, mask and exported variables are there for the next line
    sh: (line, env) =>
      runTool(
        'sh',
        [
          '-c',
          `. ${state}; ${moved(line).replaceAll('npx airproof', airproof)}\ncode=$?; { export -p; echo "umask $(umask)"; echo "cd '$PWD'"; } > ${state}; exit $code`,
        ],
        { env: { ...environment(), ...env }, timeoutMs: 120_000 },
      ),
  }
}

test('a city without Docker, as the page has it', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const machine = machineIn(folder.path)
  const engine = await findNatsServer({ env: environment() })
  const printed: string[] = []
  // its ports may be taken here
  const ports = ['API', 'DASHBOARD', 'NATS', 'MQTT', 'PUSH', 'ADMIN']
  const env = Object.fromEntries(ports.map((name) => [`AIRPROOF_${name}_PORT`, '0']))
  const said = new Map<string, string>()
  for (const line of commandsOf('docs/city/without-docker.md')) {
    const [, unit] = /^systemctl enable --now (\S+)$/.exec(line) ?? []
    if (unit !== undefined) {
      // the line before has put it there
      readFileSync(join(folder.path, 'units', `${unit}.service`))
      const up = await startUnit(readUnit(`${unit}.service`), {
        moved: machine.moved,
        within: folder.path,
        env,
        onLine: (one) => printed.push(one),
      })
      resources.use(up)
      await eventually(
        'it is up',
        () => {
          if (!up.isAlive()) throw new Error(printed.join('\n'))
          return readRunningInstance(join(folder.path, 'data'))
        },
        { withinMs: 180_000 },
      )
    } else if (line === 'npx airproof doctor')
      await eventually('all is well', () => orLoaded(machine.sh(line)), patiently)
    else if (!needsRoot.some((pattern) => pattern.test(line)))
      said.set(line, await machine.sh(line))
  }
  expect(engine.kind).toBeDefined()
  expect(said.get('npx airproof status')).toContain('pipeline')
  expect(said.get('npx airproof keys create --account you@example.org --name first')).toMatch(
    /aqk_/,
  )
})

const missing = await influxMissing()

test.skipIf(missing !== undefined)(
  `three machines, as docs/growing.md has them${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using resources = new AsyncDisposableStack()
    const influx = resources.use(await testInflux())
    const anvil = resources.use(await testAnvil())
    const cluster = resources.use(await startCluster(folder.path))
    writeFileSync(join(folder.path, 'influx-admin'), `${influx.operatorToken}\n`, { mode: 0o600 })
    const machine = machineIn(folder.path, [
      ['tls://air-1:4222,tls://air-2:4222,tls://air-3:4222', cluster.url],
      ['http://air-3:8086', influx.url],
      ['https://rpc.example.org', anvil.url],
      ['0x…', anvilAccount(1).address],
    ])
    const pages = join(folder.path, 'pages')
    writeTinyPages(pages)
    const ready: string[] = []
    for (const line of commandsOf('docs/growing.md')) {
      const [, enabled] = /^systemctl enable --now (.*)$/.exec(line) ?? []
      if (enabled === undefined) {
        if (needsRoot.some((pattern) => pattern.test(line)) || line.startsWith('install -o nats'))
          continue
        // a cluster that has just begun takes a moment to choose its leaders
        if (line === 'npx airproof streams')
          await eventually('the streams are made', () => orTryAgain(machine.sh(line)), patiently)
        // on a loaded machine its checks get no answer in time, and it says to run it again
        else if (line === 'npx airproof doctor')
          await eventually('all is well', () => orLoaded(machine.sh(line)), patiently)
        else await machine.sh(line)
        if (line.startsWith('chmod 600 secrets'))
          await fundAnchor(anvil, join(folder.path, 'secrets/anchor-key'))
        continue
      }
      if (enabled === 'airproof-nats') continue
      for (const name of enabled.split(' ')) {
        const [, instance = ''] = name.split('@')
        const admin = await freePort()
        const unit = readUnit('airproof@.service', instance)
        const printed: string[] = []
        const start = async (): Promise<Child> => {
          const child = await startUnit(unit, {
            moved: machine.moved,
            within: folder.path,
            env: {
              AIRPROOF_ADMIN_PORT: String(admin),
              AIRPROOF_API_PORT: '0',
              AIRPROOF_DASHBOARD_PORT: '0',
              AIRPROOF_PUSH_PORT: '0',
              AIRPROOF_DASHBOARD_PAGES: pages,
              AIRPROOF_ALLOW_PLAIN_SMTP: '1',
            },
            onLine: (one) => printed.push(one),
          })
          return resources.use(child)
        }
        let child = await start()
        await eventually(`${name} is ready`, async () => {
          if (!child.isAlive()) {
            const { code } = await child.exited
            // NATS was too busy to answer in time, and systemd starts it again
            if (code !== exitCodes.tryAgain)
              throw new Error(`${name} ended with ${code}: ${printed.join('\n')}`)
            child = await start()
          }
          const answer = await fetch(`http://127.0.0.1:${admin}/ready`, {
            headers: { connection: 'close' },
          }).catch(() => undefined)
          return answer?.ok
        })
        ready.push(instance)
      }
    }
    expect(ready).toEqual(['pipeline', 'gate', 'notifier', 'api', 'dashboard', 'anchor', 'archive'])
  },
)

test.skipIf(missing !== undefined)(
  `InfluxDB from nothing, as docs/influxdb.md has it${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using resources = new AsyncDisposableStack()
    const env = environment()
    const found = await findInfluxd({ env })
    if ('missing' in found) throw new Error(found.missing)
    const server = await startInfluxd({
      path: found.path,
      folder: join(folder.path, 'influxd'),
      port: await freePort(),
      env,
    })
    resources.defer(async () => void (await server.stop()))
    const machine = machineIn(folder.path, [['http://127.0.0.1:8086', server.url]])
    await machine.sh(`cd ${folder.path}`)
    const said: string[] = []
    for (const line of commandsOf('docs/influxdb.md'))
      if (!line.startsWith('influxd ')) said.push(await machine.sh(line))
    expect(said.at(-1)).toContain('bucket air: made, kept for ever')
    expect(parseEnv(readFileSync(join(folder.path, '.env'), 'utf8'))).toMatchObject({
      INFLUX_URL: server.url,
      INFLUX_BUCKET: 'air',
    })
    expect(statSync(join(folder.path, 'influx-admin')).mode & 0o777).toBe(0o600)
  },
)

const patiently = { everyMs: 250 }

/** undefined if the command ended with 75. */
const orTryAgain = (running: Promise<string>): Promise<string | undefined> =>
  running.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === exitCodes.tryAgain)
      return undefined
    throw error
  })

/** What the page asks the operator to do with a coin of the chain. */
async function fundAnchor(
  anvil: { readonly rpc: (method: string, params: readonly unknown[]) => Promise<unknown> },
  file: string,
): Promise<void> {
  const { readKeyFile } = await import('../../anchor/deploy/key-file.ts')
  await anvil.rpc('anvil_setBalance', [readKeyFile(file).address, '0xde0b6b3a7640000'])
}

test('on Kubernetes every secret that a pod mounts is made, by files that exist', async () => {
  using folder = temporaryFolder()
  const machine = machineIn(folder.path)
  const lines = commandsOf('docs/city/on-kubernetes.md')
  await machine.sh(`cd ${folder.path}`)
  // those of the cluster, the registry and the chart need them
  const needsCluster =
    /^(export IMAGE=|docker |kubectl |helm |sed |alias |airproof |for name in influx)/
  for (const line of lines) if (!needsCluster.test(line)) await machine.sh(line)
  const made = readdirSync(join(folder.path, 'secrets'))
  const mounted = readManifests().flatMap(({ spec }) =>
    (spec?.template?.spec.volumes ?? []).flatMap(
      ({ secret }) => secret?.items.map(({ key }) => key) ?? [],
    ),
  )
  expect([...new Set(mounted)].filter((name) => !made.includes(name))).toEqual([])
  expect(made).not.toContain('nats-access.json')
  const files = lines.flatMap((line) => line.match(/deploy\/\S+\.yaml/g) ?? [])
  expect(files.length).toBeGreaterThan(1)
  expect(files.filter((file) => !existsSync(file))).toEqual([])
  const names = readManifests().map(
    ({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`,
  )
  const named = lines.flatMap((line) => line.match(/\b(?:deployment|statefulset)\/\w+/g) ?? [])
  expect(named.filter((name) => !names.includes(name))).toEqual([])
})

const pages = ['docs/growing.md', ...readdirSync('docs/city').map((name) => `docs/city/${name}`)]

test.each(pages)('every command of ours in %s has these words and flags', async (page) => {
  const texts = commandsOf(page).flatMap((line) => [
    ...line.matchAll(
      /(?:npx airproof|^airproof|run --rm (?:operator|anchor)|bin\/airproof\.mjs|airproof airproof) (\w[^|;]*)/g,
    ),
  ])
  expect(texts.length).toBeGreaterThan(1)
  for (const [, text = ''] of texts) {
    const [name = '', ...words] = text.split(' ')
    const command = await commands[name]?.()
    expect([page, text, command !== undefined]).toEqual([page, text, true])
    const flags = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
    const known = [...Object.keys(command?.options ?? {}), 'data']
    expect([text, flags.filter((flag) => !known.includes(flag))]).toEqual([text, []])
  }
})

test('the page for three machines has the settings that a process reads', () => {
  const listed = readFileSync('docs/settings.md', 'utf8')
  const files = pages.flatMap((page) => readFileSync(page, 'utf8').match(/^[A-Z_]+(?==)/gm) ?? [])
  expect(files.filter((name) => !listed.includes(`\`${name}\``))).toEqual([])
})
