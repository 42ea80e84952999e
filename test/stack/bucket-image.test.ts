/** Many sensors, known from an image of their bucket and what was written after it. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { newEntry } from '../../operate/sensor-registry.ts'
import { readImageHead, writeImage } from '../../runtime/nats/buckets/bucket-image.ts'
import { keepImage } from '../../runtime/nats/buckets/keep-image.ts'
import { type PackedBucket, watchPacked } from '../../runtime/nats/buckets/packed-bucket.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { bucketStream } from '../../runtime/nats/streams/stream-table.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { encodeImageHead, type ImageHead } from '../../schemas/bucket-image.ts'
import { parseSensor, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import {
  buckets,
  imageHeadSubject,
  imagePieceSubject,
  imageStream,
} from '../../schemas/subjects.ts'
import { cityOf } from '../support/chaos/city.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const bucket = buckets.sensors
const stream = bucketStream(bucket)
const rules = sensorIdRules()
// their texts do not compress well, so that there are several pieces
const count = 6_000
const ids = cityOf(count)
const entryOf = (id: string, address = `${Math.random()} Test Road`.repeat(6)): SensorEntry =>
  newEntry({
    id,
    area: 'Ikeja',
    lat: 6.5,
    lon: 3.4,
    address,
    cadenceSeconds: 300,
    fromMs: Date.UTC(2026, 0, 1),
    nowMs: Date.UTC(2026, 0, 1),
  })

const parse = (value: unknown, key: string, _ms: number, isFine: boolean) =>
  parseSensor(value, rules, key, isFine)

async function city(register = ids) {
  await using opened = new AsyncDisposableStack()
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const js = jetstream(nc)
  const put = (id: string, text: string) => js.publish(`$KV.${bucket}.${id}`, text)
  await Promise.all(register.map((id) => put(id, JSON.stringify(entryOf(id)))))
  const closing = opened.move()
  return {
    nats,
    nc,
    js,
    put,
    kv: await new Kvm(nc).open(bucket),
    manager: await jetstreamManager(nc),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** With what it said at its start. */
async function known(nc: NatsConnection) {
  const said: string[] = []
  const sensors = await watchPacked(nc, bucket, {
    parse,
    fits: (key) => rules.parse(key) !== undefined,
    onNotice: (line) => said.push(line),
  })
  return { sensors, said, [Symbol.asyncDispose]: () => sensors[Symbol.asyncDispose]() }
}

/** As it is read entry by entry into objects. */
async function expectAsInBucket(
  nc: NatsConnection,
  sensors: PackedBucket<RegisteredSensor>,
): Promise<void> {
  await using truth = await watchBucket(nc, bucket, parse)
  await sensors.barrier()
  expect(sensors.size()).toBe(truth.size())
  const { messages } = (await (await jetstreamManager(nc)).streams.info(stream)).state
  expect(sensors.source().entries.rows).toBe(messages)
  for (const [key, value] of truth.entries()) expect(sensors.get(key)).toEqual(value)
  expect(new Map(sensors.entries())).toEqual(new Map(truth.entries()))
  for (const key of [...ids, 'none'])
    expect([key, sensors.isBroken(key)]).toEqual([key, truth.isBroken(key)])
}

const [changed = '', removed = '', retired = '', broken = '', repaired = ''] = ids

test('sensors are known from the image and what was written after it: changed, removed, retired, broken, new', async () => {
  await using here = await city()
  const { nc, kv, put } = here
  await put(repaired, '{')
  await using first = await known(nc)
  expect(first.said).toEqual([expect.stringContaining('there is none yet')])
  expect(first.sensors.size()).toBe(count - 1)
  await expectAsInBucket(nc, first.sensors)
  await writeImage(nc, bucket, first.sensors.source())
  await using second = await known(nc)
  expect(second.said).toEqual([])
  await expectAsInBucket(nc, second.sensors)
  await put(changed, JSON.stringify(entryOf(changed, 'elsewhere')))
  await kv.delete(removed)
  await put(retired, JSON.stringify({ ...entryOf(retired), retired_at: '2026-02-01T00:00:00Z' }))
  await put(broken, '{"id":')
  await put(repaired, JSON.stringify(entryOf(repaired)))
  await put('NGR-LOS-NEW-001', JSON.stringify(entryOf('NGR-LOS-NEW-001')))
  await using third = await known(nc)
  expect(third.said).toEqual([])
  expect(third.sensors.get(changed)?.sites[0].address).toBe('elsewhere')
  expect([removed, retired, broken].map((id) => third.sensors.get(id))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  for (const { sensors } of [first, second, third]) await expectAsInBucket(nc, sensors)
  // an image of those that were never there as objects is as good
  await writeImage(nc, bucket, third.sensors.source())
  await using fourth = await known(nc)
  expect(fourth.said).toEqual([])
  await expectAsInBucket(nc, fourth.sensors)
})

test('a view has its own values, and each change with what it was before', async () => {
  await using here = await city()
  const { nc, put, kv } = here
  await using one = await known(nc)
  const view = one.sensors.viewedBy((value) => Object(value).sites?.[0]?.address)
  const changes: unknown[] = []
  const stop = view.onChange((change) => changes.push(change))
  const before = view.get(changed)
  await put(changed, JSON.stringify(entryOf(changed, 'elsewhere')))
  await kv.delete(changed)
  await one.sensors.barrier()
  stop()
  await put(changed, JSON.stringify(entryOf(changed, 'again')))
  await one.sensors.barrier()
  expect(changes).toEqual([
    { key: changed, before, value: 'elsewhere' },
    { key: changed, before: 'elsewhere', value: undefined },
  ])
  expect(view.get(changed)).toBe('again')
})

type City = Awaited<ReturnType<typeof city>>
const putHead = async ({ nc, js }: City, change: (head: ImageHead) => ImageHead): Promise<void> => {
  // the pieces are right before the head
  const { head } = await readImageHead(nc, bucket)
  await js.publish(imageHeadSubject(bucket), encodeImageHead(change(head)))
}
/** Writes them again with a head after them. */
const withHead =
  (change: (head: ImageHead) => ImageHead) =>
  async (here: City): Promise<void> => {
    const { nc, js, manager } = here
    const { head } = await readImageHead(nc, bucket)
    for (const at of head.pieces.keys()) {
      const subject = imagePieceSubject(bucket, head.place, at)
      const piece = await manager.streams.getMessage(imageStream(bucket), { last_by_subj: subject })
      await js.publish(subject, piece?.data ?? '')
    }
    await putHead(here, change)
  }

const damages: readonly (readonly [name: string, why: RegExp, (here: City) => Promise<unknown>])[] =
  [
    [
      'whose head is gone',
      /there is none yet/,
      ({ manager }) =>
        manager.streams.purge(imageStream(bucket), { filter: imageHeadSubject(bucket) }),
    ],
    [
      'whose head is cut short',
      /its head is damaged/,
      ({ js }) => js.publish(imageHeadSubject(bucket), '{"v":1,"checksum":'),
    ],
    [
      'whose head was changed',
      /its head is damaged/,
      ({ js }) =>
        js.publish(imageHeadSubject(bucket), JSON.stringify({ v: 1, checksum: 5, head: '{}' })),
    ],
    [
      'of a later version',
      /of version 2/,
      ({ js }) => js.publish(imageHeadSubject(bucket), JSON.stringify({ v: 2, head: {} })),
    ],
    [
      'of which a piece is gone',
      /piece 2 of \d+ is missing or damaged/,
      async ({ nc, manager }) =>
        await manager.streams.purge(imageStream(bucket), {
          filter: imagePieceSubject(bucket, (await readImageHead(nc, bucket)).head.place, 1),
        }),
    ],
    [
      'of which a piece is torn',
      /piece 1 of \d+ is missing or damaged/,
      withHead((head) => ({
        ...head,
        pieces: head.pieces.map((crc, at) => (at === 0 ? crc + 1 : crc)),
      })),
    ],
    [
      'of which all but the head is gone',
      /its end is missing|is missing or damaged/,
      async ({ manager }) =>
        await manager.streams.purge(imageStream(bucket), { filter: `air.image.${bucket}.*.*` }),
    ],
    [
      'that knows more than the bucket',
      /the bucket has lost its end/,
      withHead((head) => ({ ...head, upTo: head.upTo + 1_000 })),
    ],
    [
      'of a bucket that had another end',
      /the bucket has lost its end/,
      withHead((head) => ({ ...head, newest: head.newest.map(([seq, ms]) => [seq, ms - 1]) })),
    ],
    [
      'of a bucket that was made again',
      /was made again/,
      withHead((head) => ({ ...head, made: '2020-01-01T00:00:00Z' })),
    ],
    [
      'whose newest entries have all changed',
      /too old/,
      async ({ nc, put }) => {
        const { head } = await readImageHead(nc, bucket)
        for (const id of ids.slice(-head.newest.length)) await put(id, JSON.stringify(entryOf(id)))
      },
    ],
    [
      'of sensors that were purged from the bucket since, without a mark',
      /they were purged/,
      ({ manager }) => manager.streams.purge(stream, { filter: `$KV.${bucket}.${removed}` }),
    ],
  ]

test.each(damages)('an image %s is not used, which is said once', async (_name, why, damage) => {
  await using here = await city()
  const { nc } = here
  {
    await using first = await known(nc)
    // in the order of the bucket, so that the newest entries are the last ones
    await writeImage(nc, bucket, first.sensors.source())
  }
  await damage(here)
  await using second = await known(nc)
  expect(second.said).toEqual([expect.stringMatching(why)])
  await expectAsInBucket(nc, second.sensors)
  // the next image is as good as the first one
  await writeImage(nc, bucket, second.sensors.source())
  await using third = await known(nc)
  expect(third.said).toEqual([])
  await expectAsInBucket(nc, third.sensors)
})

test('an image of another airproof is used, and what it holds is judged again', async () => {
  await using here = await city()
  const { nc } = here
  await using first = await known(nc)
  const { entries, ...source } = first.sensors.source()
  const row = entries.find(broken)
  // that version found nothing wrong with it
  entries.set({
    key: broken,
    kind: 'fine',
    revision: 1,
    timeMs: entries.timeMsOf(row),
    value: new TextEncoder().encode('{}'),
  })
  await writeImage(nc, bucket, { entries, ...source })
  await withHead((head) => ({ ...head, airproof: '0.0.1' }))(here)
  await using second = await known(nc)
  expect(second.said).toEqual([])
  expect([second.sensors.get(broken), second.sensors.isBroken(broken)]).toEqual([undefined, true])
  expect(second.sensors.size()).toBe(count - 1)
})

test('an entry of a later version ends the start, from the image and after it', async () => {
  await using here = await city()
  const { nc, put } = here
  {
    await using first = await known(nc)
    await writeImage(nc, bucket, first.sensors.source())
  }
  await put(changed, JSON.stringify({ v: 2, ...entryOf(changed) }))
  await expect(known(nc)).rejects.toThrow(NewerFormat)
})

/** Dies, as a process does, after that many messages. */
async function dyingWriter(nc: NatsConnection, from: PackedBucket<unknown>, after: number) {
  const { entries, ...source } = from.source()
  const dying = {
    shapes: entries.shapes,
    *records(most: number) {
      let written = 0
      for (const records of entries.records(most)) {
        if (written++ === after) throw new Error('killed')
        yield records
      }
      throw new Error('killed')
    },
  }
  await expect(writeImage(nc, bucket, { ...source, entries: dying })).rejects.toThrow('killed')
}

test('a writer that is killed anywhere leaves the former image', async () => {
  await using here = await city()
  const { nc, put } = here
  await using first = await known(nc)
  await writeImage(nc, bucket, first.sensors.source())
  const { head } = await readImageHead(nc, bucket)
  expect(head.pieces.length).toBeGreaterThan(2)
  await put(changed, JSON.stringify(entryOf(changed, 'elsewhere')))
  await first.sensors.barrier()
  for (let after = 0; after <= head.pieces.length; after++) {
    await dyingWriter(nc, first.sensors, after)
    expect((await readImageHead(nc, bucket)).head).toEqual(head)
    await using next = await known(nc)
    expect(next.said).toEqual([])
    await expectAsInBucket(nc, next.sensors)
  }
})

test('of two writers at once one at least ends, and what they leave is one image or the former', async () => {
  await using here = await city()
  const { nc } = here
  await using first = await known(nc)
  await writeImage(nc, bucket, first.sensors.source())
  for (let round = 0; round < 3; round++) {
    const written = await Promise.allSettled(
      [1, 2].map(() => writeImage(nc, bucket, first.sensors.source())),
    )
    expect(written.some(({ status }) => status === 'rejected')).toBe(true)
    await using next = await known(nc)
    expect(next.said).toEqual([])
    await expectAsInBucket(nc, next.sensors)
  }
})

test('all sensors changed at once: what is open follows, and the image is written again', async () => {
  await using here = await city()
  const { nc, put } = here
  await using first = await known(nc)
  const stop = new AbortController()
  const failed: unknown[] = []
  const onFailure = (error: unknown): unknown => failed.push(error)
  const keeping = keepImage({ nc, bucket, held: first.sensors, onFailure }, stop.signal)
  const writtenAfter = async (revision: number): Promise<boolean> =>
    ((await readImageHead(nc, bucket).catch(() => undefined))?.head.upTo ?? 0) > revision
  await eventually('there is an image', () => writtenAfter(0))
  const before = first.sensors.revision()
  await Promise.all(ids.map((id) => put(id, JSON.stringify(entryOf(id, 'elsewhere')))))
  await first.sensors.barrier()
  await eventually('it is written again', () => writtenAfter(before))
  stop.abort()
  await keeping
  expect(failed).toEqual([])
  await using next = await known(nc)
  expect(next.said).toEqual([])
  expect(next.sensors.get(removed)?.sites[0].address).toBe('elsewhere')
  for (const { sensors } of [first, next]) await expectAsInBucket(nc, sensors)
})

test('a pipeline keeps the image: killed while it writes, the next one goes on', async () => {
  await using here = await city()
  const { nats, nc, put } = here
  using folder = temporaryFolder()
  const options = { natsUrl: nats.url, dataFolder: folder.path }
  for (let round = 0; round < 3; round++) {
    await using pipeline = await startPipeline(options)
    const written = (await here.manager.streams.info(imageStream(bucket))).state.last_seq
    await Promise.all(ids.map((id) => put(id, JSON.stringify(entryOf(id)))))
    await eventually(
      'it is writing',
      async () => (await here.manager.streams.info(imageStream(bucket))).state.last_seq > written,
      { everyMs: 1 },
    )
    pipeline.kill('SIGKILL')
    await pipeline.exited
    await using next = await known(nc)
    // killed before the new image was whole: the one before may be of no use, since all has changed
    expect(next.said.filter((line) => !/none yet|have all changed since/.test(line))).toEqual([])
    await expectAsInBucket(nc, next.sensors)
  }
})
