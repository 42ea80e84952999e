/**
 * A client that was away for too long: the log is trimmed after its cursor. It receives what it misses as times, has
 * that from the archive, and goes on from the archive's own place. Real trimming, anchors and files.
 */
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readAnchorConfig } from '../../anchor/config.ts'
import { createTrimmer } from '../../anchor/trim.ts'
import { archiveOnce } from '../../archive/archive-once.ts'
import { command as mirrorCommand } from '../../cli/mirror.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { hourMs } from '../../core/time.ts'
import { rowsOf } from '../../operate/archive/check-archive-run.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import { neededByArchive, systemKeys } from '../../schemas/system-keys.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { siteOf } from '../support/api.ts'
import { listenTo } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const opened = new AsyncDisposableStack()
const keccak = await createKeccak()
const sensors = ['NGR-LOS-IKJ-001', 'NGR-LOS-YAB-002', 'NGR-LOS-IKJ-003']
let api: AnchoredApi
let folder: string
/** `sensor time` of every reading, in the order of acceptance. */
const accepted: string[] = []
let timeMs = Math.floor(Date.now() / 1_000) * 1_000 - 3 * hourMs

beforeAll(async () => {
  folder = opened.use(temporaryFolder()).path
  const archive = join(folder, 'archive')
  api = opened.use(
    await anchoredApi({ env: { AIRPROOF_ARCHIVE_DIR: archive, AIRPROOF_ARCHIVE_OPEN: '1' } }),
  )
  for (const id of sensors) await api.register({ id, sites: [siteOf('Ikeja')] })
})
afterAll(() => opened.disposeAsync())

const keyOf = (sensor: string, ms: number): string => `${sensor} ${formatIsoMs(ms)}`
/** Messages of all partitions, each with a late reading. */
async function commit(messages: number): Promise<void> {
  for (let i = 0; i < messages; i++) {
    timeMs += 10_000
    const reported = sensors.flatMap((sensor, at) => [
      { sensor, timeMs: timeMs + at },
      { sensor, timeMs: timeMs + at - 24 * hourMs, arrivedMs: timeMs },
    ])
    for (const { sensor, timeMs: ms } of await api.commit(reported))
      accepted.push(keyOf(sensor, ms))
  }
}

type Gap = { readonly from: string; readonly to: string; readonly archive: string }
type Page = {
  readonly next_cursor: string
  readonly more: boolean
  readonly gap: Gap | null
  readonly readings: readonly { readonly sensor_id: string; readonly timestamp: string }[]
}
const changes = async (query: string): Promise<Page> => {
  const answer = await api.get(`/v1/changes?${query}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Page
}
const keysOf = ({ readings }: Pick<Page, 'readings'>): string[] =>
  readings.map(({ sensor_id, timestamp }) => `${sensor_id} ${timestamp}`)
/** Pages to the end of the log. */
async function rest(after: string): Promise<string[]> {
  const keys: string[] = []
  for (let cursor = after; ; ) {
    const page = await changes(`after=${cursor}&limit=7`)
    expect(page.gap).toBeNull()
    keys.push(...keysOf(page))
    cursor = page.next_cursor
    if (!page.more) return keys
  }
}

/** What is final now, as the process does it: what the log must keep for the next run is said too. */
async function archive(): Promise<void> {
  const about = { title: 'Test', publisher: 'Test', licence: null }
  const { catalogue } = await archiveOnce({
    nc: api.nc,
    store: api.store,
    settings: { folder: join(folder, 'archive'), withHashes: false, about },
    keccak,
    nowMs: Date.now(),
    isPart: true,
    stop: new AbortController().signal,
  })
  const needed = { readings: catalogue.end.position + 1 }
  await api.system.put(neededByArchive, JSON.stringify(needed))
}

/** What the anchor process does once a minute, with few bytes kept for clients. */
async function trim(): Promise<number> {
  await api.snapshot({ store: api.lastSeq() })
  const record = { position: api.lastSeq(), dirty: [], dirtyDays: [], sensorsFromMs: 0 }
  await api.system.put(systemKeys.rollup, JSON.stringify(record))
  const { kept } = readAnchorConfig({ env: { AIRPROOF_LOG_BYTES: '2000' }, flags: {} }, folder)
  const trimmer = createTrimmer({
    nc: api.nc,
    system: api.system,
    finalLast: api.lastSeq,
    nowMs: Date.now,
    kept,
  })
  await trimmer()
  await trimmer()
  const manager = await jetstreamManager(api.nc)
  return (await manager.streams.info(readingsStream)).state.first_seq
}

test('a gap names times and the archive; from there and on, nothing is missed and nothing is twice', async () => {
  await commit(3)
  // the client reads a little, in the middle of a message, and goes away
  const first = await changes('after=start&limit=4')
  const had = keysOf(first)
  expect(had).toHaveLength(4)
  await commit(10)
  await api.anchored()
  await archive()
  const archivedCount = accepted.length
  await commit(4)
  await api.anchored()
  const firstSeq = await trim()
  // nothing that the archive does not hold is ever trimmed
  const catalogue = await readCatalogue(join(folder, 'archive'))
  expect(firstSeq).toBeGreaterThan(10)
  expect(firstSeq).toBeLessThanOrEqual((catalogue?.end.position ?? 0) + 1)
  // a process that never had what was trimmed in its memory
  await api.stopApi()
  await api.startApi()

  const back = await eventually('the batches are known', async () => {
    const page = await changes(`after=${first.next_cursor}`)
    return page.gap?.from !== null && page
  })
  expect(back.gap).not.toBeNull()
  const { from, to, archive: address } = back.gap!
  const inLog = await rest('start')
  expect(keysOf(back)).toEqual(inLog)
  // every reading that it misses was measured in that time, and /v1/readings has it there
  const missed = accepted.filter((key) => !had.includes(key) && !inLog.includes(key))
  expect(missed.length).toBeGreaterThan(20)
  for (const key of missed) {
    const time = key.split(' ')[1]!
    expect([key, from <= time && time < to]).toEqual([key, true])
  }
  const asked = await api.get(`/v1/readings?start_time=${from}&end_time=${to}&limit=1000`)
  expect(keysOf((await asked.json()) as Page)).toEqual(expect.arrayContaining(missed))

  // the stream names the same gap
  const headers = { authorization: `Bearer ${api.key}` }
  using stream = await listenTo(`${api.url}/v1/stream?last_event_id=${first.next_cursor}`, headers)
  const [event] = await eventually('a gap', () => stream.events.length > 0 && stream.events)
  expect(event).toMatchObject({ event: 'gap', data: { from, to, archive: address } })

  // the archive at that address, verified, then the log from the archive's place
  const copy = join(folder, 'copy')
  const words = [new URL('.', new URL(address, api.url)).href, copy]
  expect(await runCommand(mirrorCommand, { words })).toMatchObject({ code: 0 })
  const mirrored = await readCatalogue(copy)
  const archived: string[] = []
  for (const file of mirrored?.runs.flatMap(({ files }) => files) ?? [])
    for await (const { reading } of rowsOf(copy, file))
      archived.push(keyOf(reading.sensor, reading.timeMs))
  expect(archived.toSorted()).toEqual(accepted.slice(0, archivedCount).toSorted())
  const later = await rest(mirrored?.cursor ?? '')
  expect(later).toEqual(accepted.slice(archivedCount))
  // and on: what is accepted now comes once, on the same way
  await commit(1)
  expect(await rest(mirrored?.cursor ?? '')).toEqual(accepted.slice(archivedCount))
})
