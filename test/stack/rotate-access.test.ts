/** New passwords of NATS users while sensors send: under `up`, on a server of one's own, on a cluster. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { connect } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { command as access } from '../../cli/access/access.ts'
import { placeOf } from '../../cli/access/places.ts'
import { finish, offer, type Servers } from '../../cli/access/rotate.ts'
import { command as auditLog } from '../../cli/audit-log.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { issueCredential } from '../../operate/sensor-credentials.ts'
import { createSensor, openRegistry } from '../../operate/sensor-registry.ts'
import { readNatsAccess } from '../../runtime/engines/nats-access.ts'
import { type OwnUser, ownUsers } from '../../runtime/engines/nats-users.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { environment } from '../../runtime/process/config.ts'
import { buckets } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats } from '../support/gate.ts'
import { guardedCity } from '../support/guarded-city.ts'
import { fastSensor, sendingSensor } from '../support/rotation.ts'
import { runCommand } from '../support/run-command.ts'
import { runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const id = 'NGR-LOS-IKE-001'

const isRefused = async (servers: string, user: string, pass: string): Promise<boolean> =>
  await connect({ servers, user, pass, reconnect: false }).then(
    async (nc) => {
      await nc.close()
      return false
    },
    () => true,
  )

test('under `up` every user gets a new password by one command, and nothing is lost', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  await using city = await runCity(data)
  const { nats, nats_operator: natsLogin } = city.instance
  const passwords = readNatsAccess(join(data, 'nats-access.json'))?.passwords
  const nc = await connectNats({ natsUrl: nats, natsLogin }, { name: 'test' })
  try {
    await createSensor(await openRegistry(nc, sensorIdRules()), fastSensor(id))
    const credential = await issueCredential(await new Kvm(nc).open(buckets.credentials), id, {
      nowMs: Date.now(),
    })
    await using load = await sendingSensor(nats, id, credential)
    await eventually('it sends', () => load.sent() > 20)
    const env = { AIRPROOF_DATA: data }

    const one = { name: 'access', flags: { rotate: ['pipeline'] }, env }
    expect(await runCommand(access, one)).toMatchObject({ code: 0, err: '' })
    expect(await isRefused(nats, 'pipeline', passwords?.pipeline ?? '')).toBe(true)
    expect(await isRefused(nats, 'api', passwords?.api ?? '')).toBe(false)

    const all = await runCommand(access, { name: 'access', flags: { all: true }, env })
    expect(all).toMatchObject({ code: 0, err: '' })
    for (const user of ownUsers)
      expect(await isRefused(nats, user, passwords?.[user] ?? '')).toBe(true)
    expect(readRunningInstance(data)?.nats_operator?.password).not.toBe(natsLogin?.password)
    const log = await runCommand(auditLog, { env, flags: { json: true, what: 'access' } })
    expect(log.out.split('\n').map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({
        what: 'access',
        details: expect.objectContaining({ outcome: 'done', flags: '--all' }),
      }),
      expect.objectContaining({ what: 'access' }),
    ])

    // what starts after it has the new ones
    const before = readRunningInstance(data)?.pids
    for (const name of ['nats-server', 'pipeline']) {
      process.kill(before?.[name] ?? 0, 'SIGKILL')
      await eventually(`${name} runs again`, () => {
        const now = readRunningInstance(data)?.pids[name]
        return now !== undefined && now !== before?.[name]
      })
    }
    const sent = load.sent()
    await eventually('it sends again', () => load.sent() > sent + 20)
    expect(await load.check(nc)).toBeGreaterThan(40)
  } finally {
    await nc.close()
  }
})

const processes: readonly OwnUser[] = ['pipeline', 'api', 'system', 'operator']
/** Each change of theirs has sensors wait for ten seconds. */
const judges: readonly OwnUser[] = ['gate', 'callout']

/** The server of the test as an operator's, whose `users.conf` is in the folder of `airproof access`. */
const serversOf = ({ url, server }: Guarded): Servers => ({
  urls: [url],
  reload: () => {
    server.reload()
    return Promise.resolve('asked')
  },
})

test('interrupted after any step, every process can sign in, and the next command finishes it', async () => {
  await using nats = await guardedNats()
  await using _gate = await nats.startGate()
  await using _city = await guardedCity(nats)
  await using load = await sendingSensor(
    nats.url,
    id,
    await nats.addSensor(id, { flood: fastSensor(id).flood }),
  )
  const place = placeOf(nats.folder)
  const now = () => readNatsAccess(place.accessFile)
  const rotating = { place, note: () => undefined, stop: new AbortController().signal }
  const run = async (onStep: (step: string) => void, users = processes): Promise<void> => {
    offer(users, { ...rotating, onStep })
    await finish(serversOf(nats), { ...rotating, onStep })
  }
  const steps: string[] = []
  await run((step) => void steps.push(step), [...processes, ...judges])
  expect(steps).toEqual([
    'offered, files not written',
    'offered',
    'switched, files not written',
    'switched, servers not reloaded',
    'reloaded',
    'all signed in',
    'done, files not written',
  ])
  for (const killedAt of steps) {
    const before = now()?.passwords
    const killed = (step: string): void => {
      if (step === killedAt) throw new Error('killed')
    }
    await expect(run(killed)).rejects.toThrow('killed')
    for (const user of processes) {
      const { file } = nats.login(user)
      // a process that starts now, by its own file alone
      const natsLogin = { user, password: 'none', file }
      const stop = AbortSignal.timeout(20_000)
      const nc = await connectNats({ natsUrl: nats.url, natsLogin }, { name: user, stop })
      await nc.close()
    }
    const sent = load.sent()
    await eventually(`readings go on after "${killedAt}"`, () => load.sent() > sent + 5)
    if (now()?.rotation === undefined) {
      // only the files were left: the plain command writes them
      await runCommand(access, { words: [nats.folder] })
    } else await run(() => undefined)
    const after = now()
    expect(after?.rotation).toBeUndefined()
    for (const user of processes) {
      expect(readFileSync(place.passwordFile(user), 'utf8')).toBe(`${after?.passwords[user]}\n`)
      expect(after?.passwords[user]).not.toBe(before?.[user])
      expect(await isRefused(nats.url, user, before?.[user] ?? '')).toBe(true)
    }
  }
  expect(await load.check(await nats.as('operator'))).toBeGreaterThan(50)
})

test('killed while a server does not answer, it is finished by the next command', async () => {
  await using nats = await guardedNats()
  const env = { ...environment(), NATS_URL: nats.url }
  const args = ['bin/airproof.mjs', 'access', nats.folder, '--rotate', 'api', '--now']
  const former = nats.login('api').password
  nats.server.kill('SIGSTOP')
  const printed: string[] = []
  await using child = await startChild({
    command: process.execPath,
    args,
    env,
    onLine: (line) => printed.push(line),
  })
  await eventually(
    'it has begun',
    () => readNatsAccess(join(nats.folder, 'nats-access.json'))?.rotation,
  )
  child.kill('SIGKILL')
  await child.exited
  nats.server.kill('SIGCONT')
  const done = await runCommand(access, { words: [nats.folder], flags: { finish: true }, env })
  expect(done).toMatchObject({ code: 0, err: '' })
  expect(await isRefused(nats.url, 'api', former)).toBe(true)
  const again = await runCommand(access, { words: [nats.folder], flags: { finish: true }, env })
  expect(again).toMatchObject({ code: 1, err: expect.stringMatching(/no rotation is under way/) })
})
