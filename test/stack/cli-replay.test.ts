import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replayLines } from '../../cli/replay/replay.ts'
import { type ReplayOptions, replayArchive } from '../../cli/replay/replay-archive.ts'
import { importInto } from '../../cli/sensors/import.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { openRegistry } from '../../operate/sensor-registry.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { rawStream } from '../../schemas/subjects.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import { playPipeline } from '../support/played-pipeline.ts'

const fixtures = join(import.meta.dirname, '../fixtures/archives')

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

const replay = (options: Partial<ReplayOptions> & Pick<ReplayOptions, 'paths' | 'format'>) =>
  replayArchive(nc, {
    code: 'ARC',
    area: 'Archive',
    idPrefix: 'NGR-LOS',
    speed: Number.POSITIVE_INFINITY,
    shiftToNow: false,
    batch: 1,
    patienceMs: 30_000,
    nowMs: Date.now,
    note: () => undefined,
    isTerminal: false,
    ...options,
  })

const importArchive = async (path: string, format: string, code = 'ARC'): Promise<unknown> => {
  const { imported } = await importInto(nc, await openRegistry(nc, sensorIdRules()), {
    paths: [path],
    format,
    code,
    area: undefined,
    cadenceSeconds: undefined,
    idPrefix: 'NGR-LOS',
    nowMs: Date.UTC(2026, 0, 1),
    isTerminal: false,
  })
  return imported
}

const rawMessages = async (): Promise<number> => {
  const manager = await jetstreamManager(nc)
  const infos = await Promise.all(
    Array.from({ length: 16 }, (_, partition) => manager.streams.info(rawStream(partition))),
  )
  return infos.reduce((sum, { state }) => sum + state.messages, 0)
}

describe('replay', () => {
  const africa = join(fixtures, 'sensors-africa.csv')

  it('sends nothing while a sensor is not registered, and names the command that registers it', async () => {
    const before = await rawMessages()
    const attempt = replay({ paths: [africa], format: 'sensors-africa', code: 'NEW' })
    await expect(attempt).rejects.toThrow(MustAct)
    await expect(
      replay({ paths: [africa], format: 'sensors-africa', code: 'NEW' }),
    ).rejects.toThrow(/3 of its 3 sensors.*\n.*sensors import .*--format sensors-africa --code NEW/)
    expect(await rawMessages()).toBe(before)
  })

  it('accounts for every row and every reading of a long archive, and of its repetition', async () => {
    await using _pipeline = await playPipeline(nc)
    await importArchive(africa, 'sensors-africa')
    const first = await replay({ paths: [africa], format: 'sensors-africa' })
    expect(first).toEqual({
      sent: 16,
      accepted: 14,
      partial: 1,
      duplicate: 1,
      conflict: 1,
      refused: {},
      unmapped: 1,
      unsendable: 0,
      counts: { rows: 38, values: 37, unmapped: 1 },
    })
    const again = await replay({ paths: [africa], format: 'sensors-africa' })
    expect(again).toMatchObject({ sent: 16, accepted: 0, duplicate: 15, conflict: 1, refused: {} })
  })

  it('replays the project’s own archive, and counts what was accepted in part', async () => {
    await using _pipeline = await playPipeline(nc)
    const archive = 'examples/archive'
    expect(await importArchive(archive, 'sensors-africa')).toMatchObject({ created: 4 })
    const replayed = await replay({ paths: [archive], format: 'sensors-africa' })
    expect(replayed).toMatchObject({
      sent: 49,
      accepted: 48,
      partial: 1,
      duplicate: 1,
      refused: {},
      counts: { rows: 122, values: 122, unmapped: 0 },
    })
    expect(replayLines(replayed, { asJson: false, isWhole: false })).toContain(
      '  partial 1: a value was not believable and is left out (airproof rejected list)',
    )
  })

  it('replays a folder of wide files, whose sensor gets a second site where it moved', async () => {
    await using _pipeline = await playPipeline(nc)
    const folder = join(fixtures, 'sensor-community')
    expect(await importArchive(folder, 'sensor-community', 'STK')).toEqual({
      created: 2,
      changed: 0,
      unchanged: 0,
      what: {},
    })
    expect(await importArchive(folder, 'sensor-community', 'STK')).toMatchObject({ unchanged: 2 })
    const { kv } = await openRegistry(nc, sensorIdRules())
    const moved = await kv.get('NGR-LOS-STK-6201')
    expect(moved?.json()).toMatchObject({
      sites: [
        { from: '2025-01-14T00:00:00Z', lat: 6.43, lon: 3.42, address: 'location 9101' },
        { from: '2025-01-20T00:00:00Z', lat: 6.46, lon: 3.28, address: 'location 9102' },
      ],
    })
    const replayed = await replay({ paths: [folder], format: 'sensor-community', code: 'STK' })
    expect(replayed).toMatchObject({ sent: 14, accepted: 14, unmapped: 0 })
    expect(replayed.counts).toEqual({ rows: 31, values: 31, unmapped: 0 })
  })

  it('groups the readings of a sensor into messages where asked, and counts each', async () => {
    await using _pipeline = await playPipeline(nc)
    await importArchive(africa, 'sensors-africa', 'GRP')
    const before = await rawMessages()
    const replayed = await replay({
      paths: [africa],
      format: 'sensors-africa',
      code: 'GRP',
      batch: 500,
    })
    expect(replayed).toMatchObject({ sent: 16, accepted: 14, duplicate: 1, conflict: 1 })
    expect((await rawMessages()) - before).toBe(3)
  })

  it('reports that the pipeline is silent when nothing judges what was sent', async () => {
    await importArchive(africa, 'sensors-africa', 'MUT')
    const replaying = replay({
      paths: [africa],
      format: 'sensors-africa',
      code: 'MUT',
      patienceMs: 300,
    })
    await expect(replaying).rejects.toThrow(TryAgain)
  })

  it('names the file that is of another format', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'airproof-replay-'))
    try {
      cpSync(africa, join(folder, 'a.csv'))
      await expect(replay({ paths: [folder], format: 'sensor-community' })).rejects.toThrow(
        /a\.csv is not of the format.*one value each/,
      )
      await expect(replay({ paths: [join(folder, 'b.csv')], format: 'ndjson' })).rejects.toThrow(
        /there is no .*b\.csv/,
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
