/** A process that cannot connect to NATS reports why: in its log, on its admin port and in `status`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command as replay } from '../../cli/replay/replay.ts'
import { command as sensors } from '../../cli/sensors/sensors.ts'
import type { Command } from '../../cli/shell/command.ts'
import { lookAround } from '../../cli/shell/status-local.ts'
import { command as status } from '../../cli/status.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { startNatsServer } from '../../runtime/engines/nats-server.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { environment } from '../../runtime/process/config.ts'
import type { Environment, Flags } from '../../runtime/settings.ts'
import { testAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { writeTinyPages } from '../support/tiny-pages.ts'

const env = environment()
const login = { NATS_USER: 'somebody', NATS_PASSWORD: 'wrong' }
/** It is promised within 5 s of the process's own time; it may need some to start on a busy machine. */

const resources = new AsyncDisposableStack()
let servers: {
  readonly plain: string
  readonly tls: string
  readonly silent: string
  readonly nowhere: string
  readonly pin: string
  readonly wrongPin: string
}

beforeAll(async () => {
  const folder = resources.use(temporaryFolder())
  const engine = await findNatsServer({ env })
  const authority = testAuthority(folder.path)
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder.path, name), content)
    return join(folder.path, name)
  }
  const { cert, key } = authority.issue({ name: 'air.example' })
  const stranger = testAuthority(resources.use(temporaryFolder()).path)
  const [pin, wrongPin] = [file('pin.pem', cert), file('other.pem', stranger.ca)]
  const serve = async (name: string, more: string): Promise<string> => {
    const port = await freePort()
    const config = `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${JSON.stringify(join(folder.path, name))} }\n${more}`
    const server = await startNatsServer({
      engine,
      folder: join(folder.path, name),
      port,
      env,
      config,
    })
    resources.use(server)
    if (name === 'silent') {
      resources.defer(() => server.kill('SIGCONT'))
      server.kill('SIGSTOP')
    }
    return `127.0.0.1:${port}`
  }
  servers = {
    plain: await serve(
      'plain',
      'authorization { users = [ { user: somebody, password: right } ] }',
    ),
    tls: await serve(
      'tls',
      `tls { cert_file: ${JSON.stringify(pin)}, key_file: ${JSON.stringify(file('key.pem', key))} }`,
    ),
    silent: await serve('silent', ''),
    nowhere: `127.0.0.1:${await freePort()}`,
    pin,
    wrongPin,
  }
})
afterAll(() => resources.disposeAsync())

type Started = {
  readonly child: Child
  readonly printed: readonly string[]
  readonly admin: string
  readonly data: string
}

async function start(
  name: string,
  more: Environment,
  into: AsyncDisposableStack,
): Promise<Started> {
  const folder = into.use(temporaryFolder())
  const printed: string[] = []
  const port = await freePort()
  const child = into.use(
    await startChild({
      command: process.execPath,
      args: ['bin/airproof.mjs', name],
      env: { ...env, AIRPROOF_DATA: folder.path, AIRPROOF_ADMIN_PORT: String(port), ...more },
      onLine: (line) => printed.push(line),
    }),
  )
  return { child, printed, admin: `http://127.0.0.1:${port}`, data: folder.path }
}

const ask = async (url: string): Promise<{ status: number; body: string } | undefined> => {
  try {
    const response = await fetch(url, { headers: { connection: 'close' } })
    return { status: response.status, body: await response.text() }
  } catch {
    return undefined
  }
}

const causes: readonly (readonly [string, () => Environment, RegExp])[] = [
  [
    'a wrong password',
    () => ({ NATS_URL: `nats://${servers.plain}`, ...login }),
    /refuses the user .*somebody.*check NATS_USER/,
  ],
  [
    'no user at all',
    () => ({ NATS_URL: `nats://${servers.plain}` }),
    /requires a user: set NATS_USER/,
  ],
  [
    'a certificate that is not trusted',
    () => ({ NATS_URL: `tls://${servers.tls}` }),
    /not trusted here .*NATS_PIN_FILE/,
  ],
  [
    'a plain address of a server with TLS',
    () => ({ NATS_URL: `nats://${servers.tls}` }),
    /not trusted here .*NATS_PIN_FILE/,
  ],
  [
    'another certificate than the pinned one',
    () => ({ NATS_URL: `tls://${servers.tls}`, NATS_PIN_FILE: servers.wrongPin }),
    /not the one in NATS_PIN_FILE/,
  ],
  [
    'TLS of a server without it',
    () => ({ NATS_URL: `tls://${servers.plain}`, ...login }),
    /does not support TLS, which the settings require/,
  ],
  [
    'a port where nothing listens',
    () => ({ NATS_URL: `nats://${servers.nowhere}` }),
    /connection refused/,
  ],
  [
    'a server that is silent',
    () => ({ NATS_URL: `nats://${servers.silent}` }),
    /does not answer in time/,
  ],
]

test.each(causes)(
  '%s: the log, /ready and status say so, and /health is well',
  async (_name, more, words) => {
    await using opened = new AsyncDisposableStack()
    const { child, printed, admin, data } = await start('pipeline', more(), opened)
    const ready = await eventually('/ready gives the reason', async () => {
      if (!child.isAlive()) throw new Error(`it ended: ${printed.join(' | ')}`)
      const answer = await ask(`${admin}/ready`)
      return answer !== undefined && words.test(answer.body) && answer
    })
    expect(ready.status).toBe(503)
    expect((await ask(`${admin}/health`))?.status).toBe(200)
    expect(printed.filter((line) => words.test(line))).toHaveLength(1)
    expect((await lookAround(data, undefined)).join('\n')).toMatch(words)
  },
)

test.each(['anchor', 'notifier', 'gate', 'api', 'dashboard'])('%s reports it too', async (name) => {
  await using opened = new AsyncDisposableStack()
  const key = opened.use(temporaryFolder())
  const keyFile = join(key.path, 'anchor.key')
  writeFileSync(keyFile, `${'1'.repeat(64)}\n`, { mode: 0o600 })
  writeTinyPages(key.path)
  const more = {
    NATS_URL: `nats://${servers.plain}`,
    ...login,
    ANCHOR_KEY_FILE: keyFile,
    CHAIN_RPC_URL: `http://${servers.nowhere}`,
    AIRPROOF_DASHBOARD_PAGES: key.path,
  }
  const { child, printed, admin } = await start(name, more, opened)
  const refusal = 'refuses the user'
  const ready = await eventually('the log says so', async () => {
    if (!child.isAlive()) throw new Error(`it ended: ${printed.join(' | ')}`)
    return printed.some((line) => line.includes(refusal)) && (await ask(`${admin}/ready`))
  })
  expect(ready.status).toBe(503)
  expect(ready.body).toContain(refusal)
})

test('it logs once that it is ready, when what it waited for is there', async () => {
  await using opened = new AsyncDisposableStack()
  const port = await freePort()
  const folder = opened.use(temporaryFolder())
  const { printed, admin } = await start(
    'pipeline',
    { NATS_URL: `nats://127.0.0.1:${port}` },
    opened,
  )
  await eventually('it waits', () => printed.some((line) => line.includes('connection refused')))
  const engine = await findNatsServer({ env })
  opened.use(await startNatsServer({ engine, folder: folder.path, port, env }))
  await eventually('/ready is 200', async () => (await ask(`${admin}/ready`))?.status === 200)
  await eventually('it says so', () => printed.some((line) => line.includes('"msg":"ready"')))
  expect(printed.filter((line) => line.includes('"msg":"ready"'))).toHaveLength(1)
})

describe('the command line', () => {
  const id = 'NGR-LOS-IKJ-001'
  let url = ''
  let folder = ''

  beforeAll(async () => {
    const engine = await findNatsServer({ env })
    folder = resources.use(temporaryFolder()).path
    const port = await freePort()
    const may = (deny: string): string => `permissions { publish { deny: [ ${deny} ] } }`
    const config = `listen: "127.0.0.1:${port}"
jetstream { store_dir: ${JSON.stringify(join(folder, 'streams'))} }
authorization { users = [
  { user: operator, password: right }
  { user: api, password: right, ${may('"$KV.credentials.>", "$JS.API.STREAM.MSG.GET.KV_credentials", "$JS.API.DIRECT.GET.KV_credentials.>", "air.again.>"')} }
] }`
    resources.use(await startNatsServer({ engine, folder, port, env, config }))
    url = `nats://127.0.0.1:${port}`
    const nc = await connectNats(
      { natsUrl: url, natsLogin: { user: 'operator', password: 'right' } },
      { name: 'test' },
    )
    await ensureStreams(nc)
    await nc.close()
  })

  const run = (
    command: Command,
    line: string,
    { user, password = 'right' }: { user: string; password?: string },
    flags: Flags = {},
  ) => {
    const data = { AIRPROOF_DATA: folder, NATS_URL: url, NATS_USER: user, NATS_PASSWORD: password }
    return runCommand(command, { words: line === '' ? [] : line.split(' '), flags, env: data })
  }
  const operator = { user: 'operator' }
  const api = { user: 'api' }

  test('distinguishes a server that refuses (1) from one that is silent (75)', async () => {
    const refused = await run(status, '', { user: 'operator', password: 'wrong' })
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('refuses the user "operator": check NATS_USER'),
    })
    const nowhere = { NATS_URL: `nats://${servers.nowhere}`, AIRPROOF_DATA: folder }
    expect(await runCommand(status, { env: nowhere })).toMatchObject({
      code: 75,
      err: expect.stringContaining('is it running?'),
    })
  })

  test('names what is denied, and the user that may do it', async () => {
    const place = { area: 'Ikeja', lat: '6.6', lon: '3.3', address: 'x' }
    const added = await run(sensors, 'add', api, { id, ...place })
    expect(added.code).toBe(1)
    expect(added.err).toMatch(
      /the NATS user "api" may not publish to .*credentials.*NATS_USER=operator/,
    )
  })

  test('a denied publish of readings is not mistaken for silence', async () => {
    const archive = { format: 'sensors-africa' }
    expect((await run(sensors, 'import examples/archive', operator, archive)).code).toBe(0)
    expect(await run(replay, 'examples/archive', api, archive)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /the NATS user "api" may not publish to air\.again\..*NATS_USER=operator/,
      ),
    })
  })

  test('a denied removal removes nothing, and the permitted user can do it', async () => {
    const place = { area: 'Ikeja', lat: '6.6', lon: '3.3', address: 'x' }
    const other = 'NGR-LOS-IKJ-002'
    expect((await run(sensors, 'add', operator, { id: other, ...place })).code).toBe(0)
    expect(await run(sensors, `remove ${other}`, api)).toMatchObject({
      code: 1,
      err: expect.stringContaining('the NATS user "api" may not'),
    })
    expect((await run(sensors, `show ${other}`, operator)).out).toContain('key        good')
    expect((await run(sensors, `remove ${other}`, operator)).code).toBe(0)
    expect((await run(sensors, `show ${other}`, operator)).err).toContain('was removed on')
  })
})
