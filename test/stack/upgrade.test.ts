/**
 * From 0.1 to today's version without a pause: 0.1's own processes and new ones work on one NATS
 * under load, with the users and rights that 0.1 made; they are replaced one by one, then the format
 * level is raised. Nothing is lost, doubled or refused, and the numbers have no gap.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { command as accessCommand } from '../../cli/access/access.ts'
import { command as streamsCommand } from '../../cli/streams.ts'
import { command as upgradeCommand } from '../../cli/upgrade.ts'
import { createAccount, createKey, openAccountBook } from '../../operate/account-book.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import type { Denied } from '../../runtime/engines/nats-lines.ts'
import { type NatsServer, startNatsServer } from '../../runtime/engines/nats-server.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { environment } from '../../runtime/process/config.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { partitionsHeld } from '../support/chaos/leases.ts'
import { accountOf, faultsOf, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { startSensors } from '../support/chaos/sensors.ts'
import { builtPages } from '../support/city-browser.ts'
import { eventually } from '../support/eventually.ts'
import { checkOutFormerVersion, whyNoFormerVersion } from '../support/former-version.ts'
import { startReceiver } from '../support/receiver.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const why = whyNoFormerVersion()
const here = 'bin/airproof.mjs'
const patiently = { everyMs: 100 }

type Running = Child & { readonly admin: number; readonly printed: readonly string[] }

test.skipIf(why !== undefined)(
  `processes of 0.1 and new ones share a NATS, are replaced one by one, and the level is raised${why === undefined ? '' : ` (${why})`}`,
  async () => {
    using folder = temporaryFolder()
    await using resources = new AsyncDisposableStack()
    const former = join(folder.path, '0.1')
    mkdirSync(former)
    const old = checkOutFormerVersion(former)

    // the server with the users and rights of 0.1
    const secrets = join(folder.path, 'secrets')
    execFileSync(process.execPath, [old, 'access', secrets], { cwd: former })
    const passwordOf = (user: string): string =>
      readFileSync(join(secrets, `${user}-password`), 'utf8').trim()
    const nats = join(folder.path, 'nats')
    mkdirSync(nats)
    // the one line that docs/upgrading.md adds to it
    const users = readFileSync(join(secrets, 'users.conf'), 'utf8')
    const listens = 'subscribe: ["_INBOX.>", '
    expect(users.split(listens)).toHaveLength(2)
    writeFileSync(
      join(nats, 'users.conf'),
      users.replace(listens, 'subscribe: ["_INBOX.>", "_INBOX_system.>", '),
    )
    const denied: Denied[] = []
    const port = await freePort()
    const env = environment()
    const engine = await findNatsServer({ env })
    const startServer = (): Promise<NatsServer> =>
      startNatsServer({
        engine,
        folder: nats,
        port,
        env,
        config: `
listen: "127.0.0.1:${port}"
max_payload: 1MB
jetstream { store_dir: "${nats}/streams", sync_interval: 2m }
include "users.conf"
`,
        onDenied: (one) => void denied.push(one),
      })
    let server = await startServer()
    resources.defer(async () => void (await server.stop()))
    const asOperator = {
      NATS_URL: server.url,
      NATS_USER: 'operator',
      NATS_PASSWORD: passwordOf('operator'),
      AIRPROOF_DATA: join(folder.path, 'operator'),
    }
    const nc = await connectNats(
      {
        natsUrl: server.url,
        natsLogin: { user: 'operator', password: passwordOf('operator') },
      },
      { name: 'test' },
    )
    resources.defer(() => nc.close())

    const apiPort = await freePort()
    const pages = await builtPages()
    const start = async (program: string, name: string, data: string): Promise<Running> => {
      const dataFolder = join(folder.path, data)
      mkdirSync(dataFolder, { recursive: true })
      const admin = await freePort()
      const printed: string[] = []
      const child = await startChild({
        command: process.execPath,
        args: [program, name],
        env: {
          ...env,
          NATS_URL: server.url,
          NATS_USER: name,
          NATS_PASSWORD: passwordOf(name),
          AIRPROOF_DATA: dataFolder,
          AIRPROOF_ADMIN_PORT: String(admin),
          AIRPROOF_API_PORT: String(apiPort),
          AIRPROOF_API_URL: `http://127.0.0.1:${apiPort}`,
          AIRPROOF_PUSH_PORT: '0',
          AIRPROOF_DASHBOARD_PORT: '0',
          AIRPROOF_DASHBOARD_PAGES: pages,
          ...(name === 'gate' && {
            NATS_CALLOUT_USER: 'callout',
            NATS_CALLOUT_PASSWORD: passwordOf('callout'),
            NATS_SYSTEM_USER: 'system',
            NATS_SYSTEM_PASSWORD: passwordOf('system'),
            AIRPROOF_CALLOUT_SEED_FILE: join(secrets, 'callout-seed'),
          }),
          AIRPROOF_SECRET: '0123456789abcdef'.repeat(4),
          AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1',
          // each process has a file of its own here; a cluster shares an InfluxDB
          AIRPROOF_STORE_CHANGED: '1',
          AIRPROOF_LOG: 'warn',
        },
        onLine: (line) => printed.push(line),
      })
      return resources.use({ ...child, admin, printed })
    }
    const untilReady = async (running: Running): Promise<Running> => {
      await eventually(
        'it is ready',
        async () => {
          if (!running.isAlive()) throw new Error(`it ended: ${running.printed.join('\n')}`)
          const url = `http://127.0.0.1:${running.admin}/ready`
          return (await fetch(url, { headers: { connection: 'close' } }).catch(() => undefined))?.ok
        },
        patiently,
      )
      return running
    }
    const replace = async (running: Running, name: string, data: string): Promise<Running> => {
      expect(await running.stop()).toEqual({ code: 0, signal: null })
      return await untilReady(await start(here, name, data))
    }

    let pipeline = await untilReady(await start(old, 'pipeline', 'first'))
    const held = async (): Promise<string> =>
      [...(await partitionsHeld(nc)).values()].toSorted((a, b) => a - b).join('+')
    await eventually('0.1 holds all', async () => (await held()) === '16', patiently)
    let notifier = await untilReady(await start(old, 'notifier', 'notifier'))
    let api = await untilReady(await start(old, 'api', 'first'))
    let gate = await untilReady(await start(old, 'gate', 'gate'))

    // what the operator does first: the streams, with processes of 0.1 at work on them
    const dryRun = await runCommand(streamsCommand, {
      env: asOperator,
      flags: { 'dry-run': true },
    })
    expect(dryRun).toMatchObject({ code: 0 })
    expect(dryRun.out).toContain('STATE: max_msgs_per_subject 1 → 2')
    expect(await runCommand(streamsCommand, { env: asOperator })).toMatchObject({ code: 0 })
    const ids = cityOf(48)
    await registerCity(nc, ids)
    expect(await levelIn(nc)).toBeUndefined()

    const receiver = resources.use(await startReceiver())
    const watched = ids.slice(0, 6)
    const key = await accountWithKey(nc)
    const createWebhook = async (sensor: string): Promise<void> => {
      const response = await fetch(`http://127.0.0.1:${apiPort}/v1/webhooks`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          connection: 'close',
        },
        body: JSON.stringify({
          url: receiver.url,
          events: ['reading.new'],
          filters: { sensor_id: sensor },
        }),
      })
      expect({ status: response.status, text: await response.text() }).toMatchObject({
        status: 201,
      })
    }
    await eventually('the key is known', async () => {
      const answer = await fetch(`http://127.0.0.1:${apiPort}/v1/sensors`, {
        headers: { authorization: `Bearer ${key}`, connection: 'close' },
      })
      await answer.body?.cancel()
      return answer.ok
    })
    for (const sensor of watched) await createWebhook(sensor)

    const sensors = startSensors(nc, { ids, random: seeded(11), everyMs: 250, isLive: true })
    const goOn = async (what: string): Promise<void> => {
      const enough = sensors.acknowledged.length + 5 * ids.length
      await eventually(
        `sensors go on ${what}`,
        () => sensors.acknowledged.length >= enough,
        patiently,
      )
    }
    await goOn('under 0.1')

    const second = await untilReady(await start(here, 'pipeline', 'second'))
    await eventually('each holds half', async () => (await held()) === '8+8', patiently)
    await goOn('under both')

    const refused = await runCommand(upgradeCommand, { env: asOperator })
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(/the format level stays 1: 4 processes do not know level 3 yet/)
    expect(refused.err).toMatch(/pipeline pipeline-[0-9a-f]{12} \(reports no level/)
    expect(refused.err).toMatch(/notifier notifier-[0-9a-f]{12} \(reports no level/)
    expect(refused.err).toMatch(/gate gate-[0-9a-f]{12} \(reports no level/)
    expect(refused.err).toMatch(/\n {2}api \(reports no level/)
    expect(await levelIn(nc)).toBeUndefined()

    notifier = await replace(notifier, 'notifier', 'notifier')
    await goOn('with a new notifier')
    // a file of 0.1 is brought up by a new pipeline: until then the new API waits, so it has the other
    api = await replace(api, 'api', 'second')
    gate = await replace(gate, 'gate', 'gate')
    const dashboard = await untilReady(await start(here, 'dashboard', 'first'))
    const one = await runCommand(upgradeCommand, { env: asOperator })
    expect(one.err).toMatch(/a process does not know level 3 yet\n {2}pipeline pipeline-/)
    pipeline = await replace(pipeline, 'pipeline', 'first')
    await eventually('the new ones hold half each', async () => (await held()) === '8+8', patiently)
    await goOn('under new processes')

    // going back is still possible: 0.1 goes on from what new processes wrote
    const back = await untilReady(await start(old, 'pipeline', 'third'))
    await eventually('0.1 holds a share', async () => (await held()) === '4+6+6', patiently)
    await goOn('with 0.1 again')
    expect(await back.stop()).toEqual({ code: 0, signal: null })

    const raised = await runCommand(upgradeCommand, { env: asOperator })
    expect(raised).toMatchObject({
      code: 0,
      out: 'the format level was 1 and is 3 now; all 6 processes that run know it',
    })
    expect(await levelIn(nc)).toBe('{"level":3}')
    const again = await runCommand(upgradeCommand, { env: asOperator })
    expect(again).toMatchObject({ code: 0, out: 'the format level is 3 already: nothing to do' })
    await goOn('at the new level')

    // 0.1 does not start any more, and has written nothing
    const late = await start(old, 'pipeline', 'late')
    expect(await late.exited).toEqual({ code: 1, signal: null })
    expect(late.printed.join('\n')).toContain('use the version that made it')
    await goOn('after 0.1 was refused')

    // the users and rights of this version: the server reads accounts that change when it starts
    await runCommand(accessCommand, { words: [secrets] })
    writeFileSync(join(nats, 'users.conf'), readFileSync(join(secrets, 'users.conf')))
    await server.stop()
    server = await startServer()
    await goOn('with the new rights')
    await sensors.stop()

    const sent = sensors.acknowledged
    const account = await untilJudged(nc)
    const logged = await readLog(nc)
    expect(faultsOf(logged)).toEqual([])
    expect(account.accepted.map(nameOf).toSorted()).toEqual(sent.map(nameOf).toSorted())
    expect(accountOf(logged)).toMatchObject({ deferred: 0, refused: [] })
    const workers = new Set(logged.map(({ message }) => message.worker))
    expect(workers.size).toBe(4)

    await eventually(
      'the files hold every row',
      () => storedIn(folder.path, 'first', 'second', 'third').size === sent.length,
      patiently,
    )
    expect([...storedIn(folder.path, 'first', 'second', 'third')].toSorted()).toEqual(
      sent.map(nameOf).toSorted(),
    )
    const expected = sent.filter(({ sensor }) => watched.includes(sensor)).map(nameOf)
    const deliveries = () => Map.groupBy(receiver.received, ({ id }) => id)
    await eventually(
      'every delivery arrives',
      () => deliveries().size >= expected.length,
      patiently,
    )
    const delivered = [...deliveries().values()].map(([first]) => {
      const { timestamp = '', data } = first?.json ?? {}
      return `${String(data?.['sensor_id'])} ${Date.parse(timestamp)}`
    })
    expect(delivered.toSorted()).toEqual(expected.toSorted())
    expect(denied).toEqual([])
    for (const running of [pipeline, second, notifier, api, gate, dashboard])
      expect(running.isAlive()).toBe(true)
    printFigures('upgrade from 0.1', {
      readings: sent.length,
      deliveries: expected.length,
      repeats: receiver.received.length - expected.length,
    })
  },
  600_000,
)

const nameOf = ({ sensor, timeMs }: { readonly sensor: string; readonly timeMs: number }) =>
  `${sensor} ${timeMs}`

async function levelIn(nc: NatsConnection): Promise<string | undefined> {
  const entry = await (await new Kvm(nc).open(buckets.system)).get(systemKeys.format)
  return entry?.string()
}

async function accountWithKey(nc: NatsConnection): Promise<string> {
  const book = await openAccountBook(nc)
  const account = await createAccount(book, {
    email: 'ada@example.com',
    name: 'Ada',
    tier: 'premium',
    isConfirmed: true,
    nowMs: Date.now(),
  })
  return (await createKey(book, { account: account.id, name: 'test', nowMs: Date.now() })).key
}

function storedIn(folder: string, ...names: readonly string[]): ReadonlySet<string> {
  const rows = names.flatMap((name) => {
    using file = new DatabaseSync(join(folder, name, 'readings.sqlite'), { readOnly: true })
    return file.prepare('select sensor_id as sensor, time_ms from readings').all()
  })
  return new Set(rows.map(({ sensor, time_ms }) => `${String(sensor)} ${Number(time_ms)}`))
}
