/**
 * Each process signs in to a real server and tries everything that exists: what it may do is what
 * `docs/operations.md` states, and nothing more.
 */
import { readFileSync } from 'node:fs'
import { AckPolicy, jetstream, jetstreamManager, type StreamInfo } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { headers, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { createApplication, openApplications } from '../../operate/applications.ts'
import { findSensor, openRegistry, removeSensor } from '../../operate/sensor-registry.ts'
import { processUsers } from '../../runtime/engines/nats-rights.ts'
import { inParallel } from '../../runtime/in-parallel.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { ensureStreams, needStreams } from '../../runtime/nats/streams/streams.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { openSecretBox, writeKeyFingerprint } from '../../runtime/secrets/secret-key.ts'
import { attemptsStream, buckets, topicsStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats } from '../support/gate.ts'
import { mqttClient } from '../support/mqtt-client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type User = (typeof processUsers)[number]
const inbox = (user: string): string => `_INBOX_${user}.>`

/** The cells of the table that has this heading. */
function tableOf(heading: string): readonly (readonly string[])[] {
  const lines = readFileSync('docs/operations.md', 'utf8').split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`))
  const end = lines.findIndex((line, i) => i > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
const quoted = (cell = ''): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, x = '']) => x)
const usersIn = (cell = ''): readonly User[] =>
  processUsers.filter((user) => new RegExp(`\\b${user}\\b`).test(cell))

/** Names in a cell; `X_0` to `X_3` are four. */
function namesIn(cell = ''): readonly string[] {
  const range = /^`(.+\D)0` to `\1(\d+)`$/.exec(cell)
  if (range === null) return quoted(cell)
  const [, name = '', to] = range
  return Array.from({ length: Number(to) + 1 }, (_, n) => name + n)
}

/** What reading a stream takes. */
const reading = (stream: string): readonly string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  `$JS.FC.${stream}.>`,
]

type Stated = { readonly publish: Set<string>; readonly subscribe: Set<string> }
type Statement = Readonly<Record<User, Stated>>

/** What the page says, as subjects. */
function readStatement(): Statement {
  const of = (user: User): Stated => ({
    publish: new Set(['$JS.API.INFO']),
    subscribe: new Set([inbox(user)]),
  })
  const stated: Statement = {
    pipeline: of('pipeline'),
    anchor: of('anchor'),
    notifier: of('notifier'),
    archive: of('archive'),
    api: of('api'),
    dashboard: of('dashboard'),
    gate: of('gate'),
  }
  const allow = (users: readonly User[], subjects: readonly string[]): void => {
    for (const user of users) for (const subject of subjects) stated[user].publish.add(subject)
  }
  for (const [name, subjects, writers, readers = '', cutters = ''] of tableOf('stream')) {
    const streams = namesIn(name)
    allow(usersIn(writers), namesIn(subjects))
    allow(usersIn(readers), streams.flatMap(reading))
    if (/which takes them/.test(readers)) {
      const takers = usersIn(readers.split(',').find((part) => !/which/.test(part)))
      allow(
        takers,
        streams.map((stream) => `$JS.ACK.${stream}.>`),
      )
    }
    for (const cutter of cutters.split(';')) {
      const request = /one message/.test(cutter) ? 'MSG.DELETE' : 'PURGE'
      allow(
        usersIn(cutter),
        streams.map((stream) => `$JS.API.STREAM.${request}.${stream}`),
      )
    }
  }
  for (const [names, patterns, writers, readers] of tableOf('bucket'))
    for (const name of quoted(names)) {
      allow(
        usersIn(writers),
        quoted(patterns).map((key) => `$KV.${name}.${key}`),
      )
      allow(usersIn(readers), reading(`KV_${name}`))
    }
  for (const [subjects, senders, receivers] of tableOf('without a stream')) {
    allow(usersIn(senders), quoted(subjects))
    for (const user of usersIn(receivers))
      for (const subject of quoted(subjects)) stated[user].subscribe.add(subject)
  }
  return stated
}

const stated = readStatement()
const probeStream = 'PROBE'
let nats: Guarded
let streams: readonly StreamInfo[]

beforeAll(async () => {
  nats = await guardedNats({ mayBeDenied: true })
  await using _gate = await nats.startGate()
  // the streams of MQTT are there from the first sensor on
  const id = 'NGR-LOS-IKJ-017'
  const manager = await jetstreamManager(nats.nc)
  const client = await mqttClient(nats.mqttUrl, { id, secret: await nats.addSensor(id) })
  await client.endAsync()
  // a work queue has room for one consumer
  for await (const { name } of manager.consumers.list(topicsStream))
    await manager.consumers.delete(topicsStream, name)
  await manager.streams.add({ name: probeStream, subjects: ['probe.>'] })
  for (const bucket of Object.values(buckets))
    await (await new Kvm(nats.nc).open(bucket)).put('a.b', '{}')
  streams = await Array.fromAsync(manager.streams.list())
  for (const { config } of streams)
    for (const subject of config.name.startsWith('$') ? [] : (config.subjects ?? []))
      await jetstream(nats.nc).publish(concrete(subject), 'x')
})
afterAll(() => nats?.[Symbol.asyncDispose]())

/** A subject that fits the pattern. */
const concrete = (pattern: string): string => pattern.replaceAll('*', '7').replace(/>$/, '7.x')

const ofStream = (stream: string): readonly string[] => [
  ...'CREATE UPDATE DELETE PURGE INFO MSG.GET MSG.DELETE SNAPSHOT RESTORE LEADER.STEPDOWN PEER.REMOVE MSG.PUT'
    .split(' ')
    .map((request) => `$JS.API.STREAM.${request}.${stream}`),
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.a.b`,
  ...'LIST NAMES CREATE'.split(' ').map((request) => `$JS.API.CONSUMER.${request}.${stream}`),
  ...'CREATE DURABLE.CREATE INFO DELETE PAUSE UNPIN RESET MSG.NEXT LEADER.STEPDOWN'
    .split(' ')
    .map((request) => `$JS.API.CONSUMER.${request}.${stream}.name`),
  `$JS.API.CONSUMER.CREATE.${stream}.name.a.b`,
  `$JS.ACK.${stream}.name.1.1.1.1.0`,
  `$JS.FC.${stream}.name.x`,
  `$JS.SNAPSHOT.ACK.${stream}.x`,
  `$JS.EVENT.ADVISORY.STREAM.DELETED.${stream}`,
]

/** Whatever one could publish to. */
function everySubject(): readonly string[] {
  const all = streams.flatMap(({ config }) => [
    ...ofStream(config.name),
    ...(config.subjects ?? []).map(concrete),
  ])
  const more = Object.values(stated).flatMap(({ publish, subscribe }) => [...publish, ...subscribe])
  return [
    ...new Set([
      ...all,
      ...ofStream('NEW'),
      ...more.map(concrete),
      ...Object.values(buckets).flatMap((name) => [
        `$KV.${name}.key`,
        `$KV.${name}.some.other.key`,
      ]),
      ...'INFO STREAM.LIST STREAM.NAMES ACCOUNT.PURGE.AIR META.LEADER.STEPDOWN SERVER.REMOVE STREAM.TEMPLATE.CREATE.X'
        .split(' ')
        .map((request) => `$JS.API.${request}`),
      ...'_INBOX.x _INBOX_operator.x _INBOX_NGR-LOS-IKJ-017.x _INBOX_north.x air.bulk.north air.readings.16 air.new nobody.x probe.x gate.x dw.0.x'.split(
        ' ',
      ),
      ...'$SYS.REQ.SERVER.PING $SYS.REQ.SERVER.PING.CONNZ $SYS.REQ.SERVER.PING.JSZ $SYS.REQ.SERVER.x.KICK $SYS.REQ.SERVER.x.RELOAD'.split(
        ' ',
      ),
      ...'$SYS.REQ.ACCOUNT.AIR.CONNZ $SYS.REQ.USER.INFO $SYS.REQ.USER.AUTH $SYS.ACCOUNT.AIR.DISCONNECT'.split(
        ' ',
      ),
      ...'$MQTT.msgs.x $MQTT.sub.x $MQTT.rmsgs.x $MQTT.JSA.x.y $NRG.x $JSC.x $JS.x.API.INFO'.split(
        ' ',
      ),
    ]),
  ]
}

const everySubscription = (): readonly string[] => [
  ...new Set([
    ...'> * *.> *.*.> $KV.> $KV.*.* air.> $JS.> $JS.API.> $JS.ACK.> $JS.FC.> $JS.EVENT.> $SYS.> $SYS.*.> $MQTT.> $NRG.>'.split(
      ' ',
    ),
    ...'_INBOX.> _INBOX.* _INBOX_operator.> _INBOX_north.> _INBOX_south.> _INBOX_NGR-LOS-IKJ-017.> air.bulk.north _R_.> gate.> gate.* dw.> att.> mail.> audit.> probe.>'.split(
      ' ',
    ),
    ...processUsers.map(inbox),
    ...streams.flatMap(({ config }) => config.subjects ?? []),
    ...Object.values(stated).flatMap(({ publish, subscribe }) => [...publish, ...subscribe]),
    ...Object.values(buckets).flatMap((name) => [`$KV.${name}.>`, `$KV.${name}.*`]),
  ]),
]

const fits = (pattern: string, subject: string): boolean => {
  const [ours, theirs] = [pattern.split('.'), subject.split('.')]
  return (
    (ours.at(-1) === '>' ? theirs.length >= ours.length : theirs.length === ours.length) &&
    ours.every((part, i) => part === '*' || part === '>' || part === theirs[i])
  )
}
const isStated = (patterns: ReadonlySet<string>, subject: string): boolean =>
  [...patterns].some((pattern) => fits(pattern, subject))

/** In the account of sensors the server names a forged receipt by what it makes of it. */
const unmapped = (subject: string): string => (subject === 'nobody.7' ? 'air.ack.7' : subject)

/** What of all this the server lets the user do. */
async function allowedBy(nc: NatsConnection): Promise<{ publish: string[]; subscribe: string[] }> {
  const denied = { publish: new Set<string>(), subscription: new Set<string>() }
  void (async () => {
    for await (const status of nc.status())
      if (status.type === 'error' && status.error instanceof PermissionViolationError)
        denied[status.error.operation].add(unmapped(status.error.subject))
  })()
  const [toPublish, toHear] = [everySubject(), everySubscription()]
  for (const subject of toPublish) nc.publish(subject, '')
  for (const queue of [undefined, 'gate'])
    for (const subject of toHear)
      nc.subscribe(subject, { callback: () => undefined, ...(queue && { queue }) })
  await nc.flush()
  return {
    publish: toPublish.filter((subject) => !denied.publish.has(subject)),
    subscribe: toHear.filter((subject) => !denied.subscription.has(subject)),
  }
}

/** What a user may do more, and less, than is stated. */
async function differences(nc: NatsConnection, { publish, subscribe }: Stated) {
  const actual = await allowedBy(nc)
  const wanted = everySubject().filter((subject) => isStated(publish, subject))
  const stated = everySubscription().filter((subject) => isStated(subscribe, subject))
  return {
    more: [
      ...actual.publish.filter((subject) => !wanted.includes(subject)),
      ...actual.subscribe
        .filter((subject) => !stated.includes(subject))
        .map((s) => `receives ${s}`),
    ],
    less: [
      ...wanted.filter((subject) => !actual.publish.includes(subject)),
      ...stated
        .filter((subject) => !actual.subscribe.includes(subject))
        .map((s) => `receives ${s}`),
    ],
  }
}

test.each(processUsers)('%s may do what is stated, and nothing more', async (user) => {
  const nc = await nats.as(user)
  expect(everySubject().length).toBeGreaterThan(2_000)
  expect(await differences(nc, stated[user])).toEqual({ more: [], less: [] })
})

test.each([
  ['callout', [], ['$SYS.REQ.USER.AUTH', '$SYS.ACCOUNT.CLIENT.AUTH.ERR']],
  [
    'system',
    [
      '$SYS.REQ.SERVER.PING.CONNZ',
      '$SYS.REQ.SERVER.PING.JSZ',
      '$SYS.REQ.SERVER.*.KICK',
      '$SYS.REQ.SERVER.*.RELOAD',
    ],
    [inbox('system'), '$SYS.ACCOUNT.*.DISCONNECT'],
  ],
] as const)('%s, which is the gate too, may do nothing more', async (user, publish, subscribe) => {
  const own = { publish: new Set(publish), subscribe: new Set(subscribe) }
  expect((await differences(await nats.as(user), own)).more).toEqual([])
})

test('a bucket is read to its end, however long it is', async () => {
  const kv = await new Kvm(nats.nc).open(buckets.sensors)
  const count = 20_000
  const body = JSON.stringify({ note: 'x'.repeat(200) })
  await inParallel(
    Array.from({ length: count }, (_, n) => `long.${n}`),
    500,
    async (key) => {
      await kv.put(key, body)
    },
  )
  await using bucket = await watchBucket(await nats.as('api'), buckets.sensors, (value) => value)
  expect(bucket.size()).toBeGreaterThanOrEqual(count)
})

/**
 * An answer is sent to whatever subject the request names, a consumer delivers to whatever subject
 * is configured, and a trace is sent where a header says: the server checks no permission for any
 * of them.
 */
async function redirect(nc: NatsConnection, subjects: readonly string[], to: string) {
  const ask = (subject: string, body: object): void =>
    nc.publish(subject, JSON.stringify(body), { reply: to })
  const manager = await jetstreamManager(nc, { checkAPI: false })
  for (const subject of subjects) {
    const [, stream = ''] = /^\$JS\.API\.CONSUMER\.MSG\.NEXT\.(\w+)/.exec(subject) ?? []
    if (stream !== '') {
      const config = { ack_policy: AckPolicy.Explicit, mem_storage: true }
      const { name } = await manager.consumers.add(stream, config)
      ask(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, { batch: 1 })
      await manager.consumers.info(stream, name)
      await manager.consumers.delete(stream, name)
      const pushed = { ...config, deliver_subject: to }
      // some are refused by the server; what is not must not arrive
      const pushing = await manager.consumers.add(stream, pushed).catch(() => undefined)
      if (pushing) await manager.consumers.delete(stream, pushing.name)
    } else ask(concrete(subject), { seq: 1 })
    const traced = headers()
    traced.set('Nats-Trace-Dest', to)
    nc.publish(concrete(subject), '', { headers: traced })
  }
  await nc.flush()
}

/** The last sequence of each stream that no process is expected to write into. */
async function stateOf(names: readonly string[]): Promise<object> {
  const manager = await jetstreamManager(nats.nc)
  const infos = await Promise.all(names.map((name) => manager.streams.info(name)))
  return infos.map(({ config, state }) => [config.name, state.messages, state.last_seq])
}

describe('a process’s requests are answered only to itself', () => {
  const harmless = ({ publish }: Stated): readonly string[] =>
    [...publish].filter((subject) => !/PURGE|CONSUMER\.(CREATE|DELETE|INFO)/.test(subject))

  test.each(processUsers)(
    '%s has no answer put into a stream, a bucket or JetStream',
    async (user) => {
      const nc = await nats.as(user)
      const watched = [probeStream, 'KV_passwords', 'KV_credentials', 'KV_applications', 'BLOBS']
      // what it may write itself is not a trick
      const others = watched.filter(
        (name) =>
          !(user === 'dashboard' && /passwords|credentials/.test(name)) &&
          !(user === 'anchor' && name === 'BLOBS'),
      )
      await jetstream(nats.nc).publish('probe.before', 'x')
      const before = await stateOf(others)
      const targets = [
        'probe.redirected',
        '$KV.passwords.redirected',
        '$KV.credentials.redirected',
        '$KV.applications.redirected',
        'air.blob.redirected',
        `$JS.API.STREAM.PURGE.${probeStream}`,
        `$JS.API.STREAM.DELETE.${probeStream}`,
      ]
      for (const to of targets) await redirect(nc, harmless(stated[user]), to)
      // all of it was served before this
      await jetstreamManager(nc)
      expect(await stateOf(others)).toEqual(before)
    },
  )

  /** The subjects that a consumer of the user's on that stream would deliver to. */
  async function deliveredTo(nc: NatsConnection, stream: string, subjects: readonly string[]) {
    const { consumers } = await jetstreamManager(nc, { checkAPI: false })
    const reached: string[] = []
    for (const to of subjects) {
      const settings = { ack_policy: AckPolicy.None, mem_storage: true, deliver_subject: to }
      const made = await consumers.add(stream, settings).catch((error: unknown) => {
        // its own stream: the server sees that itself
        if (!/forms a cycle/.test(String(error))) throw error
      })
      if (made === undefined) continue
      if (made.push_bound === true) reached.push(to)
      await consumers.delete(stream, made.name)
    }
    return reached
  }

  test.each(processUsers)(
    '%s has nothing that it reads delivered into a stream or to another process',
    async (user) => {
      const nc = await nats.as(user)
      await using _gate = await nats.startGate()
      const answered = ['notifier.ask.0', 'gate.denied.up', 'gate.connections.x', 'gate.spent']
      const subjects = streams.flatMap(({ config }) => config.subjects ?? []).map(concrete)
      const read = [...stated[user].publish].filter((subject) => /STREAM\.INFO/.test(subject))
      const stream = read.at(-1)?.split('.').at(-1) ?? ''
      expect(await deliveredTo(nc, stream, [...new Set([...subjects, ...answered])])).toEqual([])
    },
  )

  test('it would be, where a client has subscribed to that very subject (canary)', async () => {
    nats.nc.subscribe('probe.literal', { callback: () => undefined })
    await nats.nc.flush()
    const api = await nats.as('api')
    expect(await deliveredTo(api, 'READINGS', ['probe.x', 'probe.literal'])).toEqual([
      'probe.literal',
    ])
  })

  test('in the account of the streams each trick would work (canary)', async () => {
    const manager = await jetstreamManager(nats.nc)
    const messages = async (): Promise<number> =>
      (await manager.streams.info(probeStream)).state.messages
    const tricks = [
      'att.x',
      '$JS.API.STREAM.MSG.GET.ATT',
      '$JS.API.DIRECT.GET.ATT',
      '$JS.API.CONSUMER.MSG.NEXT.ATT.x',
    ]
    for (const subject of tricks) {
      const before = await messages()
      await redirect(nats.nc, [subject], 'probe.redirected')
      const after = await eventually(`${subject} was redirected`, async () => {
        const now = await messages()
        return now > before ? now : undefined
      })
      expect(after).toBeGreaterThan(before)
    }
  })
})

test('a gateway may send in bulk and receive its answers, and do nothing more', async () => {
  await using _gate = await nats.startGate()
  const settings = { id: 'north', kind: 'gateway' } as const
  const secret = await createApplication(await openApplications(nats.nc), settings, Date.now())
  const own = { publish: new Set(['air.bulk.north']), subscribe: new Set([inbox('north')]) }
  const nc = await nats.sensor('north', secret)
  expect(await differences(nc, own)).toEqual({ more: [], less: [] })
})

test.each(processUsers)('no message of %s removes other entries of a bucket', async (user) => {
  const nc = await nats.as(user)
  const names = Object.values(buckets)
  const open = await Promise.all(names.map((name) => new Kvm(nats.nc).open(name)))
  await Promise.all(open.map((kv) => kv.put('kept', '{}')))
  const emptying = headers()
  emptying.set('Nats-Rollup', 'all')
  for (const subject of stated[user].publish)
    if (!subject.startsWith('$JS.')) nc.publish(concrete(subject), 'x', { headers: emptying })
  await nc.flush()
  // what was sent was served before this
  await jetstreamManager(nc)
  const read = await Promise.all(open.map((kv) => kv.get('kept')))
  expect(names.filter((_, at) => read[at]?.string() !== '{}')).toEqual([])
})

test('a sensor is removed whole or not at all by a user who may not', async () => {
  const id = sensorIdRules().parse('NGR-LOS-IKJ-018')
  if (id === undefined) throw new Error('it is an id')
  await nats.addSensor(id)
  const registry = await openRegistry(await nats.as('notifier'), sensorIdRules())
  await expect(removeSensor(registry, id, Date.now())).rejects.toThrow(/Permissions Violation/)
  const asOperator = await openRegistry(nats.nc, sensorIdRules())
  expect((await findSensor(asOperator, id))?.id).toBe(id)
})

test('a process that may not make what is missing names the command that does', async () => {
  const api = await nats.as('api')
  await needStreams(api)
  const system = await new Kvm(nats.nc).open(buckets.system)
  await system.put('layout', 'of a former version')
  await (await jetstreamManager(nats.nc)).streams.delete(attemptsStream)
  await expect(needStreams(api)).rejects.toThrow(/run `airproof streams` once as the user operator/)
  await ensureStreams(nats.nc)
  await needStreams(api)
  expect((await (await jetstreamManager(api)).streams.info(attemptsStream)).config.name).toBe(
    attemptsStream,
  )
})

test('a user who may do more is detected (canary)', async () => {
  const { more } = await differences(await nats.as('operator'), stated.notifier)
  expect(more).toEqual(
    expect.arrayContaining([
      '$JS.API.STREAM.CREATE.NEW',
      '$JS.API.STREAM.PURGE.READINGS',
      '$JS.API.STREAM.MSG.GET.KV_passwords',
      '$KV.credentials.key',
      'receives $KV.passwords.>',
      'receives _INBOX.>',
      'receives _INBOX_api.>',
    ]),
  )
})

test('the encryption key’s mark is written only by the operator, and other processes wait for it', async () => {
  using folder = temporaryFolder()
  const source = { env: { AIRPROOF_SECRET: newSecretKey() }, flags: {} }
  await using fresh = await guardedNats({ mayBeDenied: true })
  const system = await new Kvm(fresh.nc).open(buckets.system)
  const notifier = await fresh.as('notifier')
  await expect(openSecretBox(notifier, source, folder.path)).rejects.toThrow(
    /run `airproof streams` once as the user operator, with the same AIRPROOF_SECRET_FILE/,
  )
  // this machine has no key
  await writeKeyFingerprint(fresh.nc, { env: {}, flags: {} }, folder.path)
  expect(await system.get('secret-key')).toBeNull()
  await writeKeyFingerprint(fresh.nc, source, folder.path)
  await openSecretBox(notifier, source, folder.path)
  const other = { env: { AIRPROOF_SECRET: newSecretKey() }, flags: {} }
  await expect(openSecretBox(notifier, other, folder.path)).rejects.toThrow(/another key/)
})
