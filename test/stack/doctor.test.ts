import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { command } from '../../cli/doctor/doctor.ts'
import { command as rejected } from '../../cli/rejected.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { publishReading } from '../support/log-reading.ts'
import { testNats } from '../support/nats.ts'
import { entryOf, testPipeline } from '../support/pipeline.ts'
import { runCommand } from '../support/run-command.ts'

type Report = {
  readonly broken: readonly { stream: string; seq: number; subject: string; why: string }[]
}

/** One of each stream whose messages have a form. */
const foreign: Readonly<Record<string, string>> = {
  'air.readings.3': 'READINGS',
  'air.events.rise.NGR-LOS-IKJ-017': 'EVENTS',
  'air.events.anchored.4711': 'EVENTS',
  'air.rejected.schema.3.1.0': 'REJECTED',
  'air.state.3.0': 'STATE',
  'audit.acc_1': 'AUDIT',
  'requests.acc_1': 'REQUESTS',
  'att.wh_1': 'ATT',
  'air.blob.4711.top': 'BLOBS',
  'dw.1.wal': 'DW_1',
  'dw.1.man': 'DW_1',
  'dw.1.snap.1.0': 'DW_1',
}
/** One entry of each bucket whose entries have a form. */
const keys: Readonly<Record<string, string>> = {
  [buckets.sensors]: 'NGR-LOS-IKJ-099',
  [buckets.accounts]: 'acc_1',
  [buckets.emails]: 'a',
  [buckets.keys]: 'a',
  [buckets.passwords]: 'acc_1',
  [buckets.sessions]: 'a',
  [buckets.tokens]: 'a',
  [buckets.quota]: '2026-01-01.acc_1',
  [buckets.used]: 'key_1',
  [buckets.credentials]: 'NGR-LOS-IKJ-099',
  [buckets.applications]: 'lora',
  [buckets.seen]: 'NGR-LOS-IKJ-099',
  [buckets.webhooks]: 'wh_1',
  [buckets.batches]: 'header.9999',
  [buckets.proofs]: '9999',
  [buckets.anchoring]: 'deployment',
  [buckets.system]: 'needed.retired',
}

/** Another city may have the default ports of this machine. */
const envOf = ({ url }: { readonly url: string }) => ({
  NATS_URL: url,
  ...Object.fromEntries(
    ['API', 'DASHBOARD', 'PUSH', 'MQTT'].map((name) => [`AIRPROOF_${name}_PORT`, '0']),
  ),
})

test.each(['{', '5', 'null', '[]'])(
  'the doctor names each message and entry that is %s, and changes nothing',
  async (body) => {
    await using pipeline = await testPipeline()
    const { nc, nats } = pipeline
    const sensor = 'NGR-LOS-IKJ-017'
    await pipeline.register(entryOf(sensor))
    await pipeline.publish(sensor, { timestamp: new Date().toISOString(), pm25: 12 })
    await pipeline.publish(sensor, { timestamp: 'never' })
    await pipeline.judged()
    await publishReading(nc, 1)
    const doctor = () => runCommand(command, { flags: { json: true }, env: envOf(nats) })
    const healthy = await doctor()
    expect([healthy.code, (JSON.parse(healthy.out) as Report).broken]).toEqual([0, []])
    await pipeline.stop()

    for (const subject of Object.keys(foreign)) await jetstream(nc).publish(subject, body)
    const kvm = new Kvm(nc)
    for (const [bucket, key] of Object.entries(keys)) await (await kvm.open(bucket)).put(key, body)
    const manager = await jetstreamManager(nc)
    const states = async () => {
      const list = await manager.streams.list().next()
      return list.map(({ config, state }) => [config.name, state.messages, state.last_seq])
    }
    const before = await states()
    const { code, out } = await doctor()
    expect(code).toBe(1)
    const listed = (JSON.parse(out) as Report).broken.map((one) => `${one.stream} ${one.subject}`)
    const expected = [
      ...Object.entries(foreign).map(([subject, stream]) => `${stream} ${subject}`),
      ...Object.entries(keys).map(([bucket, key]) => `KV_${bucket} ${key}`),
    ]
    expect(listed.toSorted()).toEqual(expected.toSorted())
    expect(await states()).toEqual(before)

    const { code: inWords, out: words } = await runCommand(command, { env: envOf(nats) })
    expect(inWords).toBe(1)
    expect(words).toContain('READINGS: a message cannot be read')
    expect(words).toContain('a foreign message keeps its place until the log is trimmed')
    expect(words).toContain('nats kv del sensors KEY')
    // other commands continue beside them
    const list = await runCommand(rejected, { words: ['list'], env: { NATS_URL: nats.url } })
    expect(list.code).toBe(0)
    expect(list.out).toContain(sensor)
  },
)

test('the doctor says what keeps the archive from going on, and that no process archives', async () => {
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  const system = await new Kvm(nc).open(buckets.system)
  const doctor = (flags = {}) => runCommand(command, { flags, env: envOf(nats) })
  const since = '2026-11-22T00:10:00Z'
  const report = { folder: '/srv/archive', run: 3, complete_until: null, batch: 7, trouble: null }
  await system.put(systemKeys.archive, JSON.stringify(report))
  const quiet = await doctor()
  expect([quiet.code, quiet.out]).toEqual([
    0,
    expect.stringMatching(/\nall is well, with \d+ warnings?$/),
  ])
  expect(quiet.out).toMatch(/^warning +archive +no process archives now: start/m)
  await system.put(
    systemKeys.archive,
    JSON.stringify({ ...report, trouble: 'ENOSPC: no space left', trouble_since: since }),
  )
  const { code, out } = await doctor()
  expect(code).toBe(1)
  expect(out).not.toContain('all is well')
  expect(out).toContain(`since ${since}, in /srv/archive: ENOSPC: no space left`)
  const { archive } = JSON.parse((await doctor({ json: true })).out)
  expect(archive).toMatchObject({ run: 3, trouble: 'ENOSPC: no space left', worker: null })
  await nc.close()
})
