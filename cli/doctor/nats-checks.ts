/** The NATS server: whether it answers, has JetStream, syncs, tells the same time, has our streams. */
import { join } from 'node:path'
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { isRecentVersion } from '../../runtime/engines/find-nats-server.ts'
import { readNatsAccess } from '../../runtime/engines/nats-access.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { denialInWords, type NatsLogin, shownUrl } from '../../runtime/nats/nats-trouble.ts'
import { differenceInWords } from '../../runtime/nats/streams/compare-streams.ts'
import { serversAway } from '../../runtime/nats/streams/servers-away.ts'
import { bucketStream } from '../../runtime/nats/streams/stream-table.ts'
import { compareStreams } from '../../runtime/nats/streams/streams.ts'
import { readLogin } from '../../runtime/process/config.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { Check, World } from './check.ts'
import { broken, type Finding, ok, orOk, warning } from './finding.ts'

export const natsCheck: Check = {
  name: 'NATS',
  needs: 'nothing',
  run: async (world) => {
    const { config } = world
    if (config.natsUrl === undefined)
      return [ok(`nothing runs on ${config.dataFolder}, and NATS_URL is not set`)]
    const nc = await world.nats()
    const version = nc.info?.version ?? '0'
    const user = config.natsLogin?.user
    const words = `nats-server ${version} at ${shownUrl(config.natsUrl)}${user === undefined ? '' : `, as the user ${user}`}`
    if (!isRecentVersion(`v${version}.`))
      return [broken(`${words} is too old`, 'use nats-server 2.12 or newer')]
    return [await jetStreamFinding(nc, words), ...replicaFindings(nc, config.replicas)]
  },
}

async function jetStreamFinding(nc: NatsConnection, words: string): Promise<Finding> {
  if (nc.info?.jetstream !== true)
    return broken(
      `${words} has no JetStream, which keeps everything`,
      'add `jetstream { store_dir: … }` to its configuration (docs/operations.md), and restart it',
    )
  try {
    await jetstreamManager(nc)
    return ok(words)
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error
    return broken(
      `${words} refuses JetStream to this account (${error.message})`,
      'add `jetstream: enabled` to the account, and see that a majority of the cluster runs',
    )
  }
}

function replicaFindings({ info }: NatsConnection, replicas: number): readonly Finding[] {
  if (replicas === 1 || info?.cluster !== undefined) return []
  return [
    broken(
      `AIRPROOF_REPLICAS is ${replicas}, and this server is not in a cluster`,
      'make a cluster of that many servers, or set AIRPROOF_REPLICAS=1',
    ),
  ]
}

/** Beyond this, times in logs mislead; beyond the second, tokens and fresh certificates are refused. */
const [apartWarnMs, apartBrokenMs] = [5_000, 60_000]

export const clockFinding = (apartMs: number, than: string): Finding | undefined => {
  const seconds = Math.round(Math.abs(apartMs) / 1_000)
  if (Math.abs(apartMs) < apartWarnMs) return undefined
  const what = `the clock of this machine is ${seconds} s ${apartMs > 0 ? 'ahead of' : 'behind'} that of ${than}`
  const level = Math.abs(apartMs) < apartBrokenMs ? warning : broken
  return level(what, 'let both follow a time server (chrony, systemd-timesyncd)')
}

export const clockCheck: Check = {
  name: 'clock',
  needs: 'streams',
  run: async ({ nats, nowMs }) => {
    const nc = await nats()
    const beforeMs = nowMs()
    const manager = await jetstreamManager(nc, { checkAPI: false })
    const { ts } = await manager.streams.info(bucketStream(buckets.system))
    // half-way between question and answer
    const hereMs = (beforeMs + nowMs()) / 2
    const apart = clockFinding(hereMs - Date.parse(ts ?? ''), 'NATS')
    return [apart ?? ok('the same as that of NATS')]
  },
}

export const syncCheck: Check = {
  name: 'sync',
  needs: 'NATS',
  run: async (world) => {
    const login = systemLogin(world)
    if (login === undefined)
      return [
        ok(
          'whether NATS syncs each write only its user `system` sees: set NATS_SYSTEM_USER and NATS_SYSTEM_PASSWORD_FILE',
        ),
      ]
    const servers = await askJetStream(world, login)
    if (servers === 'denied')
      return [
        warning(
          'the user `system` may not ask NATS whether it syncs: its users are of an older version',
          'run `airproof access` again, and restart the servers with its users.conf',
        ),
      ]
    const lazy = servers.filter(({ config }) => config?.sync_always !== true)
    if (servers.length === 0) return [warning('no server answered the user `system`')]
    return [
      lazy.length === 0
        ? ok('every write is on the disk before it is acknowledged')
        : warning(
            `${lazy.length} of ${servers.length} servers acknowledge before a write is on the disk: a power failure of all copies would lose what was acknowledged`,
            'set `sync_interval: always` under `jetstream` in the configuration, and restart',
          ),
    ]
  },
}

/** As the settings say, or of the NATS that `up` runs here. */
const systemLogin = ({ source, running, config }: World): NatsLogin | undefined =>
  readLogin(source, 'NATS_SYSTEM') ??
  (running === undefined
    ? undefined
    : {
        user: 'system',
        password:
          readNatsAccess(join(config.dataFolder, 'nats-access.json'))?.passwords.system ?? '',
      })

type JetStreamServer = { readonly config?: { readonly sync_always?: boolean } }

async function askJetStream(
  { config, stop }: World,
  natsLogin: NatsLogin,
): Promise<readonly JetStreamServer[] | 'denied'> {
  const nc = await connectNats(
    { ...config, natsLogin },
    { name: 'airproof doctor', once: true, stop },
  )
  const servers: JetStreamServer[] = []
  try {
    const answers = await nc.requestMany('$SYS.REQ.SERVER.PING.JSZ', '{"config":true}', {
      maxWait: 500,
      strategy: 'timer',
    })
    for await (const answer of answers) servers.push(dataOf(answer.json()))
    return servers
  } catch (error) {
    if (denialInWords(error, undefined) !== undefined) return 'denied'
    throw error
  } finally {
    await nc.close()
  }
}

const dataOf = (answer: unknown): JetStreamServer => Object(Reflect.get(Object(answer), 'data'))

export const streamsCheck: Check = {
  name: 'streams',
  needs: 'NATS',
  run: async (world) => {
    if (!(await world.isMade()))
      return [
        ok(
          'this NATS has no streams of airproof yet: `airproof up` or `airproof streams` makes them',
        ),
      ]
    const nc = await world.nats()
    const { made: missing, differences } = await compareStreams(nc, world.config)
    const changeable = differences.filter(({ stays }) => stays === undefined)
    const stays = differences.filter(({ stays: why }) => why?.startsWith('the server') === true)
    return orOk(
      [
        ...(missing.length === 0
          ? []
          : [
              broken(
                `missing: ${missing.join(', ')}`,
                '`airproof streams` makes them again, empty; what was in them is in your backup',
              ),
            ]),
        ...changeable.map((difference) =>
          warning(differenceInWords(difference), '`airproof streams` brings it up to date'),
        ),
        ...stays.map((difference) => warning(differenceInWords(difference))),
        ...(await copyFindings(nc)),
      ],
      'all are there, as this version makes them',
    )
  },
}

/** Of a cluster: servers that are away, and whose copies are. */
async function copyFindings(nc: NatsConnection): Promise<readonly Finding[]> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const away = new Map<string, string[]>()
  for await (const { config, cluster } of manager.streams.list()) {
    for (const name of serversAway(cluster))
      away.set(name, [...(away.get(name) ?? []), config.name])
  }
  return [...away].map(([server, streams]) =>
    broken(
      `server ${server} is away, and with it a copy of ${streams.length} streams (${streams[0]}, …)`,
      'start it again: it catches up by itself',
    ),
  )
}
