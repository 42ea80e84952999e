/**
 * The compose file, as far as it can be tried without Docker: its own services run as plain
 * processes, by the image's entry point, with the command and the environment that the file gives
 * them, over a nats-server with the file's configuration and a real influxd.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { ensureKeyFile } from '../../anchor/deploy/key-file.ts'
import { command as accessCommand } from '../../cli/access/access.ts'
import { command as storeCommand } from '../../cli/store/store.ts'
import { ensureBuiltPages } from '../../cli/up/built-pages.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { natsConfig } from '../../runtime/engines/nats-config.ts'
import type { Denied } from '../../runtime/engines/nats-lines.ts'
import { startNatsServer } from '../../runtime/engines/nats-server.ts'
import { ownUsers } from '../../runtime/engines/nats-users.ts'
import { runTool } from '../../runtime/engines/tools.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { environment } from '../../runtime/process/config.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { networkTable } from '../../runtime/settings-table.ts'
import { buckets, spokenSubject } from '../../schemas/subjects.ts'
import { testAnvil } from '../support/anvil.ts'
import { type ComposeService, readCompose, readRecipe, readSteps } from '../support/compose.ts'
import { allowed } from '../support/dependency-rule.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, testInflux } from '../support/influx.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// ten processes of ours start at once

const compose = readCompose()
const recipe = readRecipe()
const services = Object.entries(compose.services)
const ours = services.filter(([, service]) => service.build !== undefined)
/** Those that end by themselves have no health. */
const lasting = services.filter(([name]) => !['streams', 'operator'].includes(name))

test.each(lasting)('the service %s says how it is healthy', (_name, { healthcheck }) => {
  expect(healthcheck?.test?.[0]).toBe('CMD')
})

const processes = ours.filter(([name]) => lasting.some(([other]) => other === name))
test.each(processes)('the service %s starts when the streams are made', (_name, one) => {
  expect(one.depends_on?.['streams']).toEqual({ condition: 'service_completed_successfully' })
})

test('the operator’s password, and InfluxDB’s own token, are in no process', () => {
  const holders = (secret: string): readonly string[] =>
    services.filter(([, { secrets = [] }]) => secrets.includes(secret)).map(([name]) => name)
  expect(holders('operator-password')).toEqual(['streams', 'operator'])
  expect(holders('influx-token')).toEqual(['influxdb', 'operator'])
  expect(holders('influx-write-token')).toEqual(['pipeline'])
  expect(holders('influx-read-token')).toEqual(['archive', 'api', 'grafana'])
  expect(compose.services['operator']?.profiles).toEqual(['tools'])
  expect(compose.services['notifier']?.environment).not.toHaveProperty('INFLUX_URL')
})

test('its steps make every secret, each readable by who needs it alone, under any umask', async () => {
  using folder = temporaryFolder()
  const sh = async (line: string): Promise<void> =>
    void (await runTool('sh', ['-c', `umask 077; cd ${folder.path} && ${line}`], {
      env: environment(),
      timeoutMs: 30_000,
    }))
  const secrets = join(folder.path, 'secrets')
  const unknown: string[] = []
  for (const step of readSteps()) {
    if (/^(mkdir|openssl|echo|chmod)\b/.test(step)) await sh(step)
    else if (step.includes(' airproof access '))
      await runCommand(accessCommand, { words: [secrets] })
    else if (step.includes(' operator store setup '))
      for (const name of ['influx-write-token', 'influx-read-token'])
        writeFileSync(join(secrets, name), 'x', { mode: 0o600 })
    else
      unknown.push(
        ...(/^(docker|export|sudo chown 1000 secrets\/anchor-key)/.test(step) ? [] : [step]),
      )
  }
  expect(unknown).toEqual([])
  const modeOf = (name: string): number => statSync(join(secrets, name)).mode & 0o777
  expect(statSync(secrets).mode & 0o777).toBe(0o700)
  for (const { file } of Object.values(compose.secrets)) {
    const name = basename(file)
    const isRead = name === 'anchor-key' ? 0 : 0o044
    expect([name, modeOf(name) & 0o044]).toEqual([name, isRead])
  }
  expect(modeOf('nats-access.json')).toBe(0o600)
})

test.each(services)(
  'the service %s is published to this machine alone',
  (_name, { ports = [] }) => {
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  },
)

test.each(ours)('the service %s may write nowhere but its data, and has no rights', (name, one) => {
  expect([one.read_only, one.cap_drop]).toEqual([true, ['ALL']])
  const data = recipe.env['AIRPROOF_DATA']
  // the gate's outlasts its container: readings may wait in it
  // the archive is written by its process, and read by the API and the pipeline
  const archive: Readonly<Record<string, string>> = { archive: '', api: ':ro', pipeline: ':ro' }
  const mode = archive[name]
  expect(one.volumes).toEqual([
    name === 'gate' ? `gate:${data}` : data,
    ...(mode === undefined ? [] : [`archive:${data}/archive${mode}`]),
  ])
  expect(recipe.user).toBe('node')
})

test.each(ours)(
  'the service %s gets its secrets from files that the file declares',
  (_name, one) => {
    const { environment: env = {}, secrets = [] } = one
    const files = Object.values(env).filter((value) => value.startsWith('/run/secrets/'))
    expect([...new Set(files)]).toEqual(secrets.map((name) => `/run/secrets/${name}`))
    expect(secrets.filter((name) => !(name in compose.secrets))).toEqual([])
    expect(Object.keys(env).filter((name) => /(TOKEN|KEY|PASSWORD|SECRET)$/.test(name))).toEqual([])
  },
)

test('its nats-server is configured as the one that `airproof up` starts', () => {
  const content = compose.configs['nats']?.content ?? ''
  const monitored = /^http:.*\n/m
  expect(content).toMatch(monitored)
  const own = natsConfig({
    host: '0.0.0.0',
    port: 4222,
    storeFolder: '/data',
    syncAlways: true,
    door: { usersFile: '../../run/secrets/nats-users', mqttPort: 1883 },
  })
  expect(content.replace(monitored, '')).toBe(own)
})

test('the image holds every folder that the command line may import', () => {
  const folders = (allowed['cli'] ?? []).filter((name) => name.endsWith('/') && existsSync(name))
  const needed = ['bin', 'cli', ...folders.map((name) => name.slice(0, -1))]
  expect(recipe.copiesAll).toBe(true)
  expect(recipe.ignored).toEqual(expect.arrayContaining(['test', 'node_modules', '.git']))
  expect(needed.filter((name) => recipe.ignored.includes(name))).toEqual([])
})

/** Addresses of the compose network, and what stands for them here. */
type Here = readonly (readonly [inCompose: string, here: string])[]

type Place = { readonly service: ComposeService; readonly here: Here }

/** In one pass: what stands for one address must not be taken for another. */
function moved(text: string, here: Here): string {
  const places = new Map(here)
  const pattern = here.map(([inCompose]) => RegExp.escape(inCompose)).join('|')
  return text.replace(new RegExp(pattern, 'g'), (found) => places.get(found) ?? found)
}

/** A container's environment is what the image and the file say, and nothing else. */
function environmentOf({ environment: printed = {} }: ComposeService, here: Here) {
  const { PATH, AIRPROOF_TEST_RUN } = environment()
  const own = Object.entries({ ...recipe.env, ...printed }).map(([name, value]) => [
    name,
    moved(value, here),
  ])
  return { PATH, AIRPROOF_TEST_RUN, ...Object.fromEntries(own) }
}

async function startService(
  { command = [], ...service }: ComposeService,
  here: Here,
  printed: string[],
): Promise<Child> {
  const [program = '', ...args] = recipe.entrypoint
  expect(program).toBe('node')
  return await startChild({
    command: process.execPath,
    args: [...args, ...command],
    env: environmentOf(service, here),
    onLine: (line) => printed.push(line),
  })
}

async function isHealthy({ healthcheck }: ComposeService, here: Here): Promise<boolean> {
  const [, , ...args] = (healthcheck?.test ?? []).map((word) => moved(word, here))
  try {
    await runTool(process.execPath, args, { env: environment(), timeoutMs: 10_000 })
    return true
  } catch {
    return false
  }
}

const missing = await influxMissing()

test.skipIf(missing !== undefined)(
  `two pipelines share the partitions of one city${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using resources = new AsyncDisposableStack()
    const env = environment()
    const influx = resources.use(await testInflux())
    // InfluxDB makes the first bucket when it sets itself up
    const bucket = await influx.newBucket()
    const tokenFile = join(folder.path, 'influx-token')
    writeFileSync(tokenFile, `${influx.operatorToken}\n`)
    const keyFile = join(folder.path, 'webhook-key')
    writeFileSync(keyFile, `${newSecretKey()}\n`)
    const anvil = resources.use(await testAnvil())
    const anchorKeyFile = join(folder.path, 'anchor-key')
    const { address } = ensureKeyFile(anchorKeyFile)
    await anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000'])

    const natsPort = await freePort()
    const store = join(folder.path, 'nats')
    mkdirSync(store)
    const secrets = join(folder.path, 'secrets')
    await runCommand(accessCommand, { words: [secrets] })
    const influxEnv = {
      INFLUX_URL: influx.url,
      INFLUX_TOKEN_FILE: tokenFile,
      INFLUX_BUCKET: bucket.bucket,
    }
    const flags = { secrets, 'admin-token-file': tokenFile }
    const setUp = await runCommand(storeCommand, { words: ['setup'], flags, env: influxEnv })
    expect(setUp.code).toBe(0)
    const denied: Denied[] = []
    const nats = resources.use(
      await startNatsServer({
        engine: await findNatsServer({ env }),
        onDenied: (one) => void denied.push(one),
        folder: store,
        port: natsPort,
        env,
        config: moved(compose.configs['nats']?.content ?? '', [
          ['0.0.0.0:4222', `127.0.0.1:${natsPort}`],
          ['127.0.0.1:8222', `127.0.0.1:${await freePort()}`],
          ['0.0.0.0:1883', `127.0.0.1:${await freePort()}`],
          ['"../../run/secrets/nats-users"', '"../secrets/users.conf"'],
          ['"/data"', JSON.stringify(join(store, 'streams'))],
        ]),
      }),
    )

    await ensureBuiltPages({ env, note: () => undefined })
    const smtpFile = join(folder.path, 'smtp-url')
    writeFileSync(smtpFile, 'smtp://127.0.0.1:1\n')

    const printed: string[] = []
    const apiPort = await freePort()
    const dashboardPort = await freePort()
    const started = new Map<string, Place & { readonly child: Child }>()
    const place = async (name: string): Promise<Place> => {
      const service = compose.services[name]
      if (service === undefined) throw new Error(`the file has no service ${name}`)
      // one a container, as the image's volume is
      const data = mkdtempSync(join(folder.path, `${name}-`))
      const here: Here = [
        ['nats://nats:4222', nats.url],
        ['http://influxdb:8086', influx.url],
        ...[...ownUsers.map((user) => `${user}-password`), 'callout-seed'].map(
          (file) => [`/run/secrets/${file}`, join(secrets, file)] as const,
        ),
        ['/run/secrets/influx-token', tokenFile],
        ['/run/secrets/influx-write-token', join(secrets, 'influx-write-token')],
        ['/run/secrets/influx-read-token', join(secrets, 'influx-read-token')],
        ['/run/secrets/webhook-key', keyFile],
        ['/run/secrets/anchor-key', anchorKeyFile],
        ['/run/secrets/smtp-url', smtpFile],
        ['http://api:8080', `http://127.0.0.1:${apiPort}`],
        // which city it is: not set
        ...Object.keys(networkTable).map((setting) => [`\${${setting}:-}`, ''] as const),
        ['${DASHBOARD_URL:?where people reach the dashboard}', 'https://air.example.org'],
        ['${API_URL:?where programs of others reach the API}', 'https://api.example.org'],
        ['${MAIL_FROM:?what mails are sent from}', 'air@example.org'],
        ['${CHAIN_RPC_URL:?which chain is anchored to}', anvil.url],
        ['${ANCHOR_INTERVAL:-10m}', '10m'],
        ['0.0.0.0', '127.0.0.1'],
        ['9090', String(await freePort())],
        ['8080', String(apiPort)],
        ['8082', String(await freePort())],
        ['8081', String(dashboardPort)],
        ['/data', data],
      ]
      // Buckets of InfluxDB are shared by the whole test run, so this test has its own.
      const own =
        'INFLUX_BUCKET' in (service.environment ?? {}) ? { INFLUX_BUCKET: bucket.bucket } : {}
      return { service: { ...service, environment: { ...service.environment, ...own } }, here }
    }
    /** As `docker compose run SERVICE WORDS`. */
    const runOnce = async (name: string, words?: readonly string[]): Promise<string> => {
      const { service, here } = await place(name)
      const args = [...recipe.entrypoint.slice(1), ...(words ?? service.command ?? [])]
      const env = environmentOf(service, here)
      return await runTool(process.execPath, args, { env, timeoutMs: 60_000 })
    }
    await runOnce('streams')
    await runOnce('anchor', ['anchor', 'deploy'])
    for (const [name, { deploy }] of processes) {
      for (let i = 0; i < (deploy?.replicas ?? 1); i++) {
        const { service, here } = await place(name)
        const child = resources.use(await startService(service, here, printed))
        started.set(`${name}-${i}`, { child, service, here })
      }
    }
    expect([...started.keys()]).toEqual([
      'pipeline-0',
      'pipeline-1',
      'notifier-0',
      'notifier-1',
      'gate-0',
      'anchor-0',
      'archive-0',
      'api-0',
      'dashboard-0',
    ])
    for (const [name, { child, service, here }] of started) {
      await eventually(`${name} is healthy`, async () => {
        const own = `"name":"${name.split('-')[0]}"`
        const last = (): string =>
          printed
            .filter((line) => line.includes(own))
            .slice(-5)
            .join('\n')
        if (!child.isAlive()) throw new Error(`${name} ended: ${last()}`)
        return await isHealthy(service, here)
      })
    }

    await eventually('the dashboard asks the API', async () => {
      return (await fetch(`http://127.0.0.1:${dashboardPort}/data/v1/areas`)).status === 200
    })
    expect(await (await fetch(`http://127.0.0.1:${dashboardPort}/`)).text()).toContain('/assets/')

    const natsLogin = {
      user: 'operator',
      password: readFileSync(join(secrets, 'operator-password'), 'utf8').trim(),
    }
    const nc = await connectNats({ natsUrl: nats.url, natsLogin }, { name: 'test' })
    resources.defer(() => nc.close())
    const leases = await new Kvm(nc).open(buckets.leases)
    await eventually('each pipeline holds half of the partitions', async () => {
      const holders: string[] = []
      for (const key of await keysOf(leases)) {
        if (key.startsWith('partition.')) holders.push((await leases.get(key))?.string() ?? '')
      }
      const counts = Object.values(Object.groupBy(holders, (holder) => holder))
      return counts.length === 2 && counts.every((some) => some?.length === 8)
    })

    const command = async (...words: string[]): Promise<Record<string, string>> =>
      JSON.parse(await runOnce('operator', [...words, '--json'])) as Record<string, string>
    const ids = Array.from({ length: 8 }, (_, i) => `NGR-LOS-YAB-00${i + 1}`)
    for (const id of ids) {
      const where = [
        '--area',
        'Yaba',
        '--lat',
        '6.5',
        '--lon',
        '3.37',
        '--address',
        'Herbert Macaulay Way',
      ]
      await command('sensors', 'add', '--id', id, ...where)
    }
    const { id: account = '' } = await command(
      'accounts',
      'create',
      '--email',
      'a@b.example',
      '--name',
      'A',
      '--tier',
      'premium',
    )
    const { key } = await command('keys', 'create', '--account', account)

    const timestamp = new Date(Date.now() - 60_000).toISOString()
    for (const id of ids) {
      const reading = { timestamp, pm25: 18.5, pm10: 32.1, temperature: 29 }
      await jetstream(nc).publish(spokenSubject(id), JSON.stringify(reading))
    }
    const isAnswered = async (): Promise<boolean> => {
      const response = await fetch(`http://127.0.0.1:${apiPort}/v1/readings?limit=100`, {
        headers: { authorization: `Bearer ${key}`, connection: 'close' },
      })
      const body = (await response.json()) as { readings?: unknown[] }
      return body.readings?.length === ids.length
    }
    // an account has 600 requests a minute
    await eventually('every reading is answered for', isAnswered, { everyMs: 200 })

    const shown = await fetch(`http://127.0.0.1:${dashboardPort}/config.json`)
    expect(await shown.json()).toMatchObject({ api: 'https://api.example.org' })

    /** Status of what InfluxDB answers. */
    const asked = async (token: string, path: string, body?: string): Promise<number> => {
      const method = body === undefined ? 'GET' : 'POST'
      const headers = {
        authorization: `Token ${readFileSync(join(secrets, token), 'utf8').trim()}`,
      }
      const answer = await fetch(influx.url + path, { method, headers, ...(body && { body }) })
      await answer.text()
      return answer.status
    }
    const [theirs, line] = [await influx.newBucket(), 'x v=1']
    const write = (name: string): string => `/api/v2/write?org=airproof&bucket=${name}`
    expect({
      readerWrites: await asked('influx-read-token', write(bucket.bucket), line),
      writerWrites: await asked('influx-write-token', write(bucket.bucket), line),
      writerWritesElsewhere: await asked('influx-write-token', write(theirs.bucket), line),
      writerMakesTokens: await asked(
        'influx-write-token',
        '/api/v2/authorizations',
        '{"permissions":[]}',
      ),
    }).toEqual({
      readerWrites: 403,
      writerWrites: 204,
      writerWritesElsewhere: 403,
      writerMakesTokens: expect.toSatisfy((status: number) => status >= 400),
    })

    for (const { child } of started.values()) child.kill('SIGTERM')
    const exits = await Promise.all([...started.values()].map(({ child }) => child.exited))
    expect(exits.map(({ code }) => code)).toEqual([...started].map(() => 0))
    expect(denied).toEqual([])
  },
)

async function keysOf(kv: { keys: () => Promise<AsyncIterable<string>> }): Promise<string[]> {
  const keys: string[] = []
  for await (const key of await kv.keys()) keys.push(key)
  return keys
}
