/**
 * Clients copy the network while readings arrive, late ones too, and pipeline, API processes and the
 * nats-server are killed. Each goes from /v1/changes to the stream and back, and from one API process to
 * the other, with one cursor.
 */
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, inject, test } from 'vitest'
import { apiKeyPrefix, makeKey } from '../../core/access/api-key.ts'
import { formatIso, formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, secondMs } from '../../core/time.ts'
import { writeKeyFingerprint } from '../../runtime/secrets/secret-key.ts'
import type { Account, KeyRecord } from '../../schemas/people/account.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type SupervisedApi, superviseApi } from '../support/chaos/api-process.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { supervisePipeline } from '../support/chaos/pipeline-process.ts'
import { readLog, untilJudged } from '../support/chaos/read-log.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { startSensors } from '../support/chaos/sensors.ts'
import { listenTo } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const killsForMs = inject('soak') ? 90 * secondMs : 9 * secondMs
const clients = 4

async function newKey(nc: NatsConnection): Promise<string> {
  const kvm = new Kvm(nc)
  const account: Account = {
    id: 'account-1',
    email: 'a@example.org',
    name: 'a',
    tier: 'premium',
    role: 'user',
    created_at: formatIso(Date.now()),
  }
  const key = makeKey(apiKeyPrefix, randomBytes(64))
  const record: KeyRecord = {
    id: 'key-1',
    account: account.id,
    name: 'test',
    hint: key.slice(0, 8),
    created_at: formatIso(Date.now()),
    expires_at: formatIso(Date.now() + 90 * dayMs),
  }
  await (await kvm.open(buckets.accounts)).put(account.id, JSON.stringify(account))
  const hash = createHash('sha256').update(key).digest('hex')
  await (await kvm.open(buckets.keys)).put(hash, JSON.stringify(record))
  return key
}

type Row = { readonly sensor_id: string; readonly timestamp: string }
type Copy = {
  cursor: string
  readonly rows: string[]
  moves: number
  pages: number
  events: number
}

/** One client: what it has, and a step to the next place at one of the processes. */
function copying(apis: readonly SupervisedApi[], key: string, random: () => number) {
  const copy: Copy = { cursor: 'start', rows: [], moves: 0, pages: 0, events: 0 }
  const headers = { authorization: `Bearer ${key}` }
  const take = ({ sensor_id, timestamp }: Row): void =>
    void copy.rows.push(`${sensor_id} ${timestamp}`)
  const ask = async (url: string): Promise<boolean> => {
    const limit = 1 + Math.floor(random() * 300)
    const answer = await fetch(`${url}/v1/changes?after=${copy.cursor}&limit=${limit}&shape=flat`, {
      headers,
    })
    if (answer.status === 503) return true
    expect(answer.status).toBe(200)
    const page = (await answer.json()) as {
      readonly next_cursor: string
      readonly more: boolean
      readonly gap: object | null
      readonly readings: readonly Row[]
    }
    expect(page.gap).toBeNull()
    for (const row of page.readings) take(row)
    copy.cursor = page.next_cursor
    copy.pages++
    return page.more
  }
  const listen = async (url: string): Promise<void> => {
    using stream = await listenTo(`${url}/v1/stream?last_event_id=${copy.cursor}`, headers)
    if (stream.status === 503) return
    expect(stream.status).toBe(200)
    await pause(random() * 700)
    for (const { event, id, data } of stream.events) {
      expect(event).not.toBe('gap')
      if (event.startsWith('reading')) take(data as Row)
      if (event !== 'end') copy.cursor = id
      copy.events++
    }
    copy.cursor = stream.events.length > 0 ? copy.cursor : (stream.lastId() ?? copy.cursor)
  }
  return {
    copy,
    step: async (): Promise<boolean> => {
      const { url } = apis[Math.floor(random() * apis.length)] ?? { url: '' }
      copy.moves++
      try {
        if (copy.cursor === 'start' || random() < 0.5) return await ask(url)
        await listen(url)
      } catch (error) {
        // the process was killed under it: nothing of the answer counts
        if (error instanceof Error && error.name === 'AssertionError') throw error
        await pause(100)
      }
      return true
    },
  }
}

test('nothing is missed or received twice by clients that go anywhere, whatever is killed', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const random = seeded(31)
  const nats = resources.use(await testNats({ syncAlways: true }))
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await registerCity(nc, cityOf(60))
  const options = { natsUrl: nats.url, dataFolder: folder.path }
  const pipeline = resources.use(await supervisePipeline(options))
  await pipeline.current().untilReady()
  await writeKeyFingerprint(nc, { env: {}, flags: {} }, folder.path)
  const key = await newKey(nc)
  const apis = await Promise.all([1, 2].map(async () => resources.use(await superviseApi(options))))
  for (const { url } of apis)
    await eventually('the API answers', async () => {
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(`${url}/v1/changes`, { headers }).catch(() => undefined))?.status === 200
    })

  const sensors = startSensors(nc, { ids: cityOf(60), random, everyMs: 150, lateShare: 0.1 })
  let isOver = false
  const copies = Array.from({ length: clients }, () => copying(apis, key, random))
  const walking = Promise.all(
    copies.map(async ({ step }) => {
      while (!isOver) await step()
    }),
  )
  const kills = { pipeline: 0, api: 0, server: 0 }
  const endMs = performance.now() + killsForMs
  for (let i = 0; performance.now() < endMs; i++) {
    await pause(700 + random() * 2_000)
    if (i % 4 === 1) {
      kills.pipeline++
      pipeline.kill()
    } else if (i % 4 === 3) {
      kills.server++
      await nats.kill()
      await nats.restart()
    } else {
      kills.api++
      apis[i % 8 < 4 ? 0 : 1]?.kill()
    }
  }
  await sensors.stop()
  await untilJudged(nc)
  isOver = true
  await walking
  const accepted = (await readLog(nc))
    .flatMap(({ message }) => message.readings)
    .map(({ sensor, timeMs }) => `${sensor} ${formatIsoMs(timeMs)}`)
  for (const { copy, step } of copies) {
    await eventually('it has what there is', async () => {
      await step()
      return copy.rows.length >= accepted.length
    })
    expect(copy.rows).toEqual(accepted)
  }
  expect(sensors.acknowledged.some(({ isLate }) => isLate)).toBe(true)
  expect(new Set(accepted)).toEqual(
    new Set(sensors.acknowledged.map(({ sensor, timeMs }) => `${sensor} ${formatIsoMs(timeMs)}`)),
  )
  printFigures('changes kill', {
    ...kills,
    accepted: accepted.length,
    moves: copies.map(({ copy: { moves, pages, events } }) => [moves, pages, events]),
  })
})
