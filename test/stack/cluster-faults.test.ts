/**
 * A city on three NATS servers with two of each process, under load: its leader is killed, a machine
 * is gone, networks are cut, a disk is slow, every kind of process is killed and frozen. No
 * acknowledged reading is lost, doubled or out of order; quotas are exact over both APIs; every
 * delivery is made; all is anchored and the audit is green. A rolling upgrade is in upgrade.test.ts.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { expect, inject, test } from 'vitest'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { percentile } from '../../core/air/percentile.ts'
import { secondMs } from '../../core/time.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import { type ClusterServer, slowDiskMissing } from '../support/chaos/cluster.ts'
import { untilDelivered, watchBy } from '../support/chaos/deliveries.ts'
import { expectStored } from '../support/chaos/expect-stored.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { copiedEvents, expectedEvents, readEvents } from '../support/chaos/read-events.ts'
import { faultsOf, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { untilStored } from '../support/chaos/read-store.ts'
import {
  patiently,
  type ReplicatedCity,
  startReplicatedCity,
} from '../support/chaos/replicated-city.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { type Sensors, startSensors } from '../support/chaos/sensors.ts'
import { spendQuota } from '../support/chaos/spend-quota.ts'
import { watchStored } from '../support/chaos/watch-stored.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing } from '../support/influx.ts'
import { startReceiver } from '../support/receiver.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const soak = inject('soak')
const sensorCount = soak ? 60 : 30
/** Longer than a lease lives, so another process takes over meanwhile. */
const awayMs = soak ? 60 * secondMs : 12 * secondMs
const slowDiskMs = 50
const quota = 400
/** They take the most time. */
const onlyInSoak = new Set(['two servers do not reach each other', 'the leader has a slow disk'])
const kinds = ['pipeline', 'gate', 'notifier', 'api', 'dashboard', 'anchor']

type Faults = ReadonlyMap<string, () => Promise<void>>

function faultsIn({ cluster, nc, services }: ReplicatedCity, sensors: Sensors): Faults {
  /** Not those that were sent when it began: each sensor's next ones, and two more rounds. */
  const goOn = async (): Promise<void> => {
    const enough = sensors.acknowledged.length + 3 * sensorCount
    await eventually('sensors go on', () => sensors.acknowledged.length >= enough, patiently)
  }
  const allReady = async (): Promise<void> => {
    for (const service of services)
      await eventually(`${service.name} is ready`, service.isReady, patiently)
  }
  /** The one that leads the log. */
  const leader = (): Promise<ClusterServer> =>
    eventually(
      'a server leads the log',
      async () => {
        const manager = await jetstreamManager(nc, { timeout: 1_000, checkAPI: false })
        const info = await manager.streams.info(readingsStream).catch(() => undefined)
        return cluster.servers.find(({ name }) => name === info?.cluster?.leader)
      },
      patiently,
    )
  const of = (kind: string) => services.filter(({ name }) => name === kind)
  const all: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'the leader is killed',
      async () => {
        const server = await leader()
        await server.kill()
        await goOn()
        await server.start()
      },
    ],
    [
      'a machine is gone, and comes back',
      async () => {
        const server = await leader()
        server.freeze()
        await pause(awayMs)
        await allReady()
        await goOn()
        await server.kill()
        await server.start()
      },
    ],
    [
      'the leader is cut off from the others',
      async () => {
        const server = await leader()
        server.isolate()
        await pause(awayMs)
        server.rejoin()
        await goOn()
      },
    ],
    [
      'two servers do not reach each other',
      async () => {
        const { heal } = cluster.cutBetween('air-1', 'air-2')
        await pause(awayMs / 2)
        heal()
        await goOn()
      },
    ],
    [
      'the leader has a slow disk',
      async () => {
        if (slowDiskMissing() !== undefined) return
        const server = await leader()
        await server.kill()
        await server.start({ slowDiskMs })
        await goOn()
        await pause(awayMs / 2)
        await server.kill()
        await server.start()
        await goOn()
      },
    ],
    [
      'one process of each kind is killed',
      async () => {
        for (const kind of kinds) of(kind)[0]?.kill()
        await allReady()
        await goOn()
      },
    ],
    [
      'another process of each kind is frozen',
      async () => {
        const frozen = kinds.flatMap((kind) => of(kind).at(-1)?.current() ?? [])
        for (const process of frozen) process.kill('SIGSTOP')
        await pause(awayMs)
        for (const process of frozen) process.kill('SIGCONT')
        await allReady()
        await goOn()
      },
    ],
  ]
  return new Map(all.filter(([what]) => soak || !onlyInSoak.has(what)))
}

const missing = await influxMissing()

test.skipIf(missing !== undefined)(
  `three servers and two of each process: whatever fails, nothing is lost, doubled or reordered${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using resources = new AsyncDisposableStack()
    const city = resources.use(
      await startReplicatedCity({
        folder: folder.path,
        sensors: sensorCount,
        perKind: 2,
        env: {
          AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1',
          ANCHOR_INTERVAL: '2s',
          AIRPROOF_QUOTA_FREE: String(quota),
        },
      }),
    )
    const { nc, ids, apis, store } = city
    const receiver = resources.use(await startReceiver())
    const watched = { 'reading.new': ids.slice(0, 5), 'aqi.high': ids.slice(5, 10) } as const
    const [api = ''] = apis
    const key = await city.newKey('hooks', 'premium')
    const headers = { authorization: `Bearer ${key}`, connection: 'close' }
    const isKnown = async (): Promise<boolean> =>
      (await fetch(`${api}/v1/webhooks`, { headers })).status === 200
    await eventually('the API knows the key', isKnown)
    await watchBy({ api, key }, receiver, watched)
    const client = spendQuota(apis, {
      key: await city.newKey('client', 'free'),
      quota,
      everyMs: 1_000,
    })

    const sensors = startSensors(city.connectionOf, {
      ids,
      random: seeded(15),
      everyMs: 400,
      isLive: true,
    })
    const watch = watchStored(store, sensors.acknowledged)
    const beganMs = performance.now()
    let notedMs = beganMs
    const note = (what: string): void => {
      const ms = watch.take().toSorted((a, b) => a - b)
      const tookMs = performance.now() - notedMs
      notedMs += tookMs
      const [p50Ms, p99Ms] = [percentile(ms, 50), percentile(ms, 99)]
      printFigures('cluster faults', {
        what,
        seen: ms.length,
        p50Ms,
        p99Ms,
        tookMs: Math.round(tookMs),
      })
    }
    const quiet = 20 * sensorCount
    await eventually('all is quiet', () => sensors.acknowledged.length >= quiet, patiently)
    note('quiet')
    for (const [what, happens] of faultsIn(city, sensors)) {
      await happens()
      note(what)
    }
    await sensors.stop()
    const seconds = (performance.now() - beganMs) / secondMs
    const sent = sensors.acknowledged

    const account = await untilJudged(nc)
    const logged = await readLog(nc)
    expect(faultsOf(logged)).toEqual([])
    expect(account.accepted.length).toBe(sent.length)
    expectStored(await untilStored(store, sent.length), sent)
    await watch.stop()
    const expected = expectedEvents(logged)
    const copied = await eventually(
      'EVENTS has what the log has',
      async () => {
        const events = copiedEvents(await readEvents(nc))
        // those of anchors are in no message of the log
        const ofReadings = events.filter((one) => !one.startsWith('anchored-'))
        return ofReadings.length >= expected.length && ofReadings
      },
      patiently,
    )
    expect(copied.toSorted()).toEqual(expected.toSorted())
    const delivered = await untilDelivered(receiver, watched, sent).catch((cause: unknown) => {
      const lines = city.services
        .filter(({ name }) => name === 'notifier')
        .flatMap(({ current }) => current().printed())
      throw new Error(`${String(cause)}; the notifiers: ${lines.join('\n')}`, { cause })
    })
    const spent = await client.finish()
    for (const dashboard of city.dashboards)
      expect((await fetch(`${dashboard}/data/v1/areas`)).status).toBe(200)
    const report = await eventually(
      'all is anchored, and the audit is green',
      async () => {
        const { code, out } = await runCommand(auditCommand, {
          flags: { data: join(folder.path, 'operator'), json: true },
          env: city.operator,
        })
        const { rows } = JSON.parse(out) as { rows: { fit: number; not_anchored: number } }
        return code === 0 && rows.not_anchored === 0 && rows
      },
      { everyMs: 1_000 },
    )
    expect(report.fit).toBe(sent.length)
    printFigures('cluster faults', {
      readings: sent.length,
      perSecond: Math.round(sent.length / seconds),
      seconds: Math.round(seconds),
      ...delivered,
      ...spent,
      ownExits: city.services.flatMap(({ name, ownExits }) =>
        ownExits().map((code) => `${name} ${code}`),
      ),
      slowDisk: slowDiskMissing() ?? `${slowDiskMs} ms per fsync`,
    })
  },
  1_800_000,
)
