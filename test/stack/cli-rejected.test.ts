import { createHash } from 'node:crypto'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import {
  listRejected,
  needRejected,
  rejectedReasons,
  replayRejected,
} from '../../operate/rejected-messages.ts'
import { MustAct } from '../../runtime/exit.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import {
  rawStream,
  rejectedHeaders,
  rejectedStream,
  rejectedSubject,
} from '../../schemas/subjects.ts'
import { type TestNats, testNats } from '../support/nats.ts'

let nats: TestNats
let nc: NatsConnection

beforeAll(async () => {
  nats = await testNats()
  nc = await nats.connect()
  await ensureStreams(nc)
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
})

const sensor = 'NGR-LOS-IKJ-017'
const any = { reasons: [], sensor: undefined }
let rawSeq = 0

/** Stores an item as the pipeline does. @returns its id */
async function refuse(
  reason: string,
  body: Uint8Array | string,
  { on = sensor, length = Buffer.byteLength(body), why = 'for a reason' } = {},
): Promise<string> {
  const head = headers()
  head.set(rejectedHeaders.sensor, on)
  head.set(rejectedHeaders.why, why)
  head.set(rejectedHeaders.arrived, String(Date.UTC(2026, 0, 1)))
  head.set(rejectedHeaders.length, String(length))
  head.set(rejectedHeaders.sha256, createHash('sha256').update(body).digest('hex'))
  const subject = rejectedSubject(reason, partitionOf(on), ++rawSeq, 0, on)
  await jetstream(nc).publish(subject, body, { headers: head })
  return subject.slice('air.rejected.'.length)
}

const empty = async (): Promise<void> => {
  const manager = await jetstreamManager(nc)
  await manager.streams.purge(rejectedStream)
}

const lastRaw = async (on: string): Promise<string | undefined> => {
  const manager = await jetstreamManager(nc)
  const stream = rawStream(partitionOf(on))
  const { state } = await manager.streams.info(stream)
  if (state.last_seq === 0) return undefined
  return (await manager.streams.getMessage(stream, { seq: state.last_seq }))?.string()
}

describe('rejected list', () => {
  it('lists nothing where nothing was refused', async () => {
    await empty()
    expect(await listRejected(nc, any, 10)).toEqual([])
  })

  it('has words for every reason, also where the pipeline had none', async () => {
    await empty()
    for (const reason of rejectedReasons) await refuse(reason, '{}', { why: '' })
    const listed = await listRejected(nc, any, 100)
    expect(new Set(listed.map(({ why }) => why)).size).toBe(rejectedReasons.length)
    for (const { why } of listed) expect(why.length).toBeGreaterThan(5)
    const exact = await refuse('future', '{}', { why: '400 s ahead' })
    expect((await needRejected(nc, exact)).why).toBe('400 s ahead')
  })

  it('lists the newest first, by reason and by sensor, however old they are', async () => {
    await empty()
    const old = await refuse('unknown_sensor', '{"first":1}', { on: 'NGR-LOS-YAB-900' })
    const noise: string[] = []
    for (let i = 0; i < 1_200; i++) noise.push(await refuse('not_json', `{${i}`))
    const young = await refuse('schema', '{"last":1}')

    const newest = await listRejected(nc, any, 3)
    expect(newest.map(({ id }) => id)).toEqual([young, ...noise.slice(-2).toReversed()])
    expect(newest[0]).toMatchObject({
      reason: 'schema',
      sensor,
      why: 'for a reason',
      arrived: '2026-01-01T00:00:00Z',
      length: 10,
    })
    const byReason = await listRejected(nc, { ...any, reasons: ['unknown_sensor', 'schema'] }, 10)
    expect(byReason.map(({ id }) => id)).toEqual([young, old])
    const bySensor = await listRejected(nc, { ...any, sensor: 'NGR-LOS-YAB-900' }, 10)
    expect(bySensor.map(({ id }) => id)).toEqual([old])
    expect(await listRejected(nc, any, 5_000)).toHaveLength(1_202)
  })
})

describe('rejected show', () => {
  it('shows a message by its id or its subject, with its bytes as they arrived', async () => {
    const bytes = Uint8Array.of(0xff, 0xfe, 0x00, 0x7b)
    const id = await refuse('not_json', bytes)
    const shown = await needRejected(nc, id)
    expect([...shown.bytes]).toEqual([...bytes])
    expect(shown.isTruncated).toBe(false)
    expect(await needRejected(nc, `air.rejected.${id}`)).toEqual(shown)
    await expect(needRejected(nc, 'not_json.1.999999.0')).rejects.toThrow(MustAct)
    await expect(needRejected(nc, `not_json.${sensor}.1.999999.0`)).rejects.toThrow(MustAct)
    await expect(needRejected(nc, '>')).rejects.toThrow(MustAct)
  })
})

describe('what version 0.1 stored', () => {
  it('is listed, shown and sent again like the rest, though its subject names no sensor', async () => {
    await empty()
    const head = headers()
    head.set(rejectedHeaders.sensor, sensor)
    head.set(rejectedHeaders.length, '8')
    const id = `unknown_sensor.${partitionOf(sensor)}.4711.0`
    await jetstream(nc).publish(`air.rejected.${id}`, '{"pm":1}', { headers: head })
    const reasons = ['unknown_sensor']
    const [listed] = await listRejected(nc, { reasons, sensor }, 10)
    expect(listed).toMatchObject({ id, sensor, reason: 'unknown_sensor' })
    const shown = await needRejected(nc, id)
    expect(Buffer.from(shown.bytes).toString()).toBe('{"pm":1}')
    expect(await replayRejected(nc, [shown])).toMatchObject({ replayed: 1 })
    expect(await lastRaw(sensor)).toBe('{"pm":1}')
  })
})

describe('rejected replay', () => {
  it('works though a sensor guesses its message ids', async () => {
    await empty()
    const id = await refuse('unknown_sensor', '{"pm25":2}')
    const { seq } = await needRejected(nc, id)
    const manager = await jetstreamManager(nc)
    const stored = await manager.streams.getMessage(rejectedStream, { seq })
    // as version 0.1 made it
    const msgID = `rejected-${seq}-${stored?.time.getTime()}`
    await jetstream(nc).publish(`air.raw.${partitionOf(sensor)}.${sensor}`, '{"pm25":1}', { msgID })
    expect(await replayRejected(nc, await listRejected(nc, any, 10))).toMatchObject({ replayed: 1 })
    expect(await lastRaw(sensor)).toBe('{"pm25":2}')
  })

  it('sends each again to its sensor and removes what is stored', async () => {
    await empty()
    const body = '{"sensor_id":"NGR-LOS-IKJ-017","timestamp":"2026-01-01T00:00:00Z","pm25":1}'
    await refuse('unknown_sensor', body)
    const other = await refuse('schema', '{}')
    const chosen = await listRejected(nc, { ...any, reasons: ['unknown_sensor'] }, 10)
    expect(await replayRejected(nc, chosen)).toEqual({
      replayed: 1,
      truncated: 0,
      unsendable: 0,
      gone: 0,
    })
    expect(await lastRaw(sensor)).toBe(body)
    expect((await listRejected(nc, any, 10)).map(({ id }) => id)).toEqual([other])
    expect(await replayRejected(nc, chosen)).toMatchObject({ replayed: 0, gone: 1 })
  })

  it('does not send again what is truncated, or whose sensor has no valid name', async () => {
    await empty()
    const on = 'NGR-LOS-FES-501'
    await refuse('too_large', 'x'.repeat(1_000), { on, length: 200_000 })
    await refuse('unknown_sensor', '{}', { on: 'caf?' })
    const before = await lastRaw(on)
    const chosen = await listRejected(nc, any, 10)
    expect(await replayRejected(nc, chosen)).toMatchObject({ truncated: 1, unsendable: 1 })
    expect(await lastRaw(on)).toBe(before)
    expect(await listRejected(nc, any, 10)).toHaveLength(2)
  })
})
