/**
 * Secrets that the servers of a cluster know, rotated under load: no acknowledged reading is lost or
 * doubled, every process is connected all the same, and no process ends.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { expect, inject, test } from 'vitest'
import { command as access } from '../../cli/access/access.ts'
import { asSystem } from '../../cli/access/as-system.ts'
import { askAll } from '../../cli/access/ask-servers.ts'
import { placeOf } from '../../cli/access/places.ts'
import { reloadServer } from '../../cli/access/reload.ts'
import { finish, offer, type Servers } from '../../cli/access/rotate.ts'
import { finishSeed, offerSeed } from '../../cli/access/rotate-seed.ts'
import { command as auditLog } from '../../cli/audit-log.ts'
import { readNatsAccess } from '../../runtime/engines/nats-access.ts'
import { type OwnUser, ownUsers } from '../../runtime/engines/nats-users.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { isServerAway } from '../../runtime/server-away.ts'
import { type Cluster, startCluster } from '../support/chaos/cluster.ts'
import { untilJudged } from '../support/chaos/read-log.ts'
import {
  patiently,
  type ReplicatedCity,
  startReplicatedCity,
} from '../support/chaos/replicated-city.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { startSensors } from '../support/chaos/sensors.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing } from '../support/influx.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const stop = new AbortController().signal
/** All steps are interrupted, not a few. */
const soak = inject('soak')
const missing = await influxMissing()
const processes: readonly OwnUser[] = ['pipeline', 'notifier', 'gate', 'system']

/** A city that sends, and what must hold after each rotation. */
async function sendingCity(folder: string) {
  const city = await startReplicatedCity({
    folder,
    sensors: 20,
    // it is the servers that are rotated: what a second process of a kind does is in cluster-faults.test.ts
    perKind: soak ? 2 : 1,
    env: { ANCHOR_INTERVAL: '2s' },
  })
  const { cluster, ids, services } = city
  const sensors = startSensors(city.connectionOf, {
    ids,
    random: seeded(54),
    everyMs: 400,
    isLive: true,
  })
  const goesOn = async (): Promise<void> => {
    const enough = sensors.acknowledged.length + 3 * ids.length
    await eventually('sensors go on', () => sensors.acknowledged.length >= enough, patiently)
  }
  await goesOn()
  const connected = await eventually('servers answer', () => connectionsOf(cluster), patiently)
  return {
    ...city,
    goesOn,
    untilAllAreBack: () =>
      eventually(
        'each process has its connections',
        async () => {
          const now = await connectionsOf(cluster)
          return [...connected].every(([user, count]) => (now?.get(user) ?? 0) >= count)
        },
        patiently,
      ),
    check: async (): Promise<void> => {
      await goesOn()
      for (const service of services)
        await eventually(`${service.name} is ready`, service.isReady, patiently)
      const ended = services.flatMap(({ name, ownExits }) => ownExits().map((how) => [name, how]))
      // one that lost its lease while a server was away, or was not answered in time, starts again
      expect(ended.filter(([, how]) => !how?.startsWith('75: '))).toEqual([])
      await sensors.stop()
      // the operator's password may be another one
      const { accepted } = await untilJudged(await cluster.connect('operator'))
      const named = (list: readonly { readonly sensor: string; readonly timeMs: number }[]) =>
        list.map(({ sensor, timeMs }) => `${sensor} ${timeMs}`).toSorted()
      expect(named(accepted)).toEqual(named(sensors.acknowledged))
    },
    [Symbol.asyncDispose]: async () => {
      // a failed test does not wait for what will never be acknowledged
      void sensors.stop()
      await city[Symbol.asyncDispose]()
    },
  }
}

/** undefined: no server answered in time. */
const connectionsOf = ({ servers, secrets }: Cluster) =>
  asSystem({ urls: servers.map(({ url }) => url), place: placeOf(secrets), stop }, async (nc) => {
    const lasting = ownUsers.filter((user) => user !== 'system' && user !== 'operator')
    const counts = lasting.map(async (user) => {
      const answers = await askAll(nc, 'CONNZ', { auth: true, user })
      const count = answers.reduce((sum, { data }) => sum + (data?.connections?.length ?? 0), 0)
      return [user, count] as const
    })
    return new Map(await Promise.all(counts))
  })

/** Those whose `users.conf` is the one of the folder. */
const serversOf = ({ cluster }: ReplicatedCity): Servers => {
  const urls = cluster.servers.map(({ url }) => url)
  return {
    urls,
    reload: (url) => reloadServer(url, { urls, place: placeOf(cluster.secrets), stop }),
  }
}

/** From now on each server has a copy of its own, as docs/growing.md has it. */
function copyUsers(folder: string, { servers, secrets }: Cluster): () => void {
  const copy = (): void => {
    for (const { name } of servers)
      copyFileSync(join(secrets, 'users.conf'), join(folder, name, 'users.conf'))
  }
  copy()
  for (const { name } of servers) {
    const file = join(folder, name, 'nats.conf')
    const config = readFileSync(file, 'utf8').replace('../secrets/users.conf', 'users.conf')
    writeFileSync(file, config)
  }
  return copy
}

test.skipIf(missing !== undefined)(
  `passwords of three servers, one server after the other, also when it is interrupted${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using city = await sendingCity(folder.path)
    const { cluster } = city
    const place = placeOf(cluster.secrets)
    const words = [cluster.secrets]
    const env = city.operator

    const rotating = { place, note: () => undefined, stop }
    const run = async (onStep: (step: string) => void): Promise<void> => {
      offer(processes, { ...rotating, onStep })
      await finish(serversOf(city), { ...rotating, onStep })
    }
    const steps: string[] = []
    await run((step) => void steps.push(step))
    expect(steps).toEqual([
      'offered, files not written',
      'offered',
      'switched, files not written',
      'switched, servers not reloaded',
      'reloaded',
      'reloaded 1 of 3',
      'reloaded',
      'reloaded 2 of 3',
      'reloaded',
      'all signed in',
      'done, files not written',
    ])
    for (const killedAt of soak
      ? new Set(steps)
      : ['switched, files not written', 'reloaded 1 of 3']) {
      const killed = (step: string): void => {
        if (step === killedAt) throw new Error('killed')
      }
      await expect(run(killed)).rejects.toThrow('killed')
      await city.goesOn()
      const isOver = readNatsAccess(place.accessFile)?.rotation === undefined
      // only the files were left: the plain command writes them
      const flags = isOver ? {} : { finish: true }
      const again = await runCommand(access, { words, flags, env })
      expect([killedAt, again.code, again.err]).toEqual([killedAt, 0, ''])
      await city.untilAllAreBack()
    }

    // a cluster that is not named whole is left as it is
    const rotate = { all: true, now: true }
    const named = { ...env, NATS_URL: cluster.servers[0]?.url }
    const few = await runCommand(access, { words, flags: rotate, env: named })
    expect([few.code, few.err]).toEqual([1, expect.stringMatching(/3 servers .*NATS_URL names 1/)])
    expect(readNatsAccess(place.accessFile)?.rotation?.step).toBe('offered')

    // each server with a copy of the file: the judges of sensors are among the users
    const copy = copyUsers(folder.path, cluster)
    const finishes = () =>
      runCommand(access, { name: 'access', words, flags: { finish: true }, env })
    const former = await finishes()
    expect([former.code, former.err]).toEqual([1, expect.stringContaining('put the new one there')])
    await city.goesOn()
    // a server refuses what is wrong with its own file, and keeps the former users
    const [first] = cluster.servers
    writeFileSync(join(folder.path, first?.name ?? '', 'users.conf'), '{ not a configuration')
    const refused = await finishes()
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('refuses its configuration'),
    ])
    await city.goesOn()
    copy()
    expect(await finishes()).toMatchObject({ code: 0, err: '' })
    await city.untilAllAreBack()
    await city.check()
  },
  900_000,
)

test.skipIf(missing !== undefined)(
  `the seed of the gate, by restarts of one server after the other${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using city = await sendingCity(folder.path)
    const { cluster, operator: env } = city
    const place = placeOf(cluster.secrets)
    const words = [cluster.secrets]
    const former = readNatsAccess(place.accessFile)?.issuerSeed
    /** As the page has it: a leader for every stream, and copies that are current. */
    const isHealthy = async (): Promise<boolean> => {
      try {
        const streams = await (await jetstreamManager(city.nc)).streams.list().next()
        return streams.every(
          ({ cluster: copies }) =>
            copies?.leader !== undefined &&
            copies.replicas?.every(({ current, offline }) => current && offline !== true),
        )
      } catch (error) {
        if (isServerAway(error)) return false
        throw error
      }
    }
    const restart = async (at: number): Promise<void> => {
      const server = cluster.servers[at]
      await server?.kill()
      await server?.start()
      await eventually('the cluster is healthy', isHealthy, patiently)
      await city.goesOn()
    }
    const rotating = { place, note: () => undefined, stop }
    const urls = cluster.servers.map(({ url }) => url)
    const steps = [
      'offered, files not written',
      'offered',
      'switched, files not written',
      'switched, servers not restarted',
      'restarted',
    ]
    for (const killedAt of soak ? steps : ['offered', 'switched, files not written']) {
      const onStep = (step: string): void => {
        if (step === killedAt) throw new Error('killed')
      }
      const run = async (): Promise<void> => {
        offerSeed({ ...rotating, onStep })
        await finishSeed({ urls }, { ...rotating, onStep })
      }
      await expect(run()).rejects.toThrow('killed')
      await city.goesOn()
    }
    const flags = { finish: true }
    // a cluster that chooses its leaders, or a server that is not back yet, is asked again
    const untilAnswered = (given: typeof flags, code: number) =>
      eventually(
        `it ends with ${code}`,
        async () => {
          const run = await runCommand(access, { name: 'access', words, flags: given, env })
          return run.code === code && !run.err.includes('did not answer') && run
        },
        patiently,
      )
    for (const at of [0, 1, 2]) {
      const left = ['air-1', 'air-2', 'air-3'].slice(at).join(', ')
      const ended = await untilAnswered(flags, 1)
      expect(ended.err).toContain(`healthy: ${left}.`)
      await restart(at)
    }
    const other = await runCommand(access, { words, flags: { rotate: ['api'], now: true }, env })
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('is not finished')])
    const done = await untilAnswered(flags, 0)
    expect(done.err).toBe('')
    const now = readNatsAccess(place.accessFile)
    expect(now?.issuerSeed).not.toBe(former)
    expect(now?.rotation).toBeUndefined()
    expect(readFileSync(join(cluster.secrets, 'callout-seed'), 'utf8')).toBe(`${now?.issuerSeed}\n`)
    const log = await runCommand(auditLog, { env, flags: { json: true, what: 'access' } })
    expect(log.out.match(/"outcome":"done"/g)).toHaveLength(1)
    expect(log.out).not.toContain(now?.issuerSeed)
    await city.check()
  },
  900_000,
)

test('servers of a cluster that all refuse a user end the first try to connect', async () => {
  using folder = temporaryFolder()
  await using cluster = await startCluster(folder.path)
  const natsLogin = { user: 'api', password: 'wrong' }
  const settings = { natsUrl: cluster.url, natsLogin }
  await expect(connectNats(settings, { name: 'test', once: true })).rejects.toThrow(
    /Authorization Violation/,
  )
  const why: (string | undefined)[] = []
  const given = new AbortController()
  const lasting = connectNats(
    { ...settings, onTrouble: (words) => void why.push(words) },
    { name: 'test', stop: given.signal },
  )
  lasting.catch(() => undefined)
  await eventually('the reason is reported', () => why.some((words) => words?.includes('refuses')))
  given.abort()
  await expect(lasting).rejects.toThrow(/stopped|aborted/)
})
