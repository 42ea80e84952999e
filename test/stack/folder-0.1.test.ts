/**
 * A data folder that release 0.1 left opens with today's version: what its API answered is answered
 * still, its proofs verify, its audit is green, and the next readings continue its numbers.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { exitCodes } from '../../runtime/exit.ts'
import type { RunningInstance } from '../../runtime/machine/running-instance.ts'
import { levelText } from '../../runtime/nats/format-level.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { buckets, spokenSubject } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { readRows } from '../support/chaos/read-store.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../support/run-command.ts'
import { runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type ApiReading = {
  readonly sensor_id: string
  readonly timestamp: string
  readonly measurements: object
  readonly aqi: number | null
  readonly blockchain: { readonly hash: string; readonly verified: boolean }
}
type ApiSensor = { readonly id: string; readonly area: string; readonly location: object }
type ApiWebhook = {
  readonly id: string
  readonly url: string
  readonly events: object
  readonly filters: object
  readonly created_at: string
}

const rowsAtItsStop = 876
const aSensor = 'NGR-LOS-APA-001'

test('a data folder of 0.1: readings, sensors, webhooks, deliveries, proofs and numbers go on', async () => {
  using folder = temporaryFolder()
  execFileSync('tar', ['-xzf', 'test/fixtures/folder-0.1.tar.gz', '-C', folder.path])
  const data = join(folder.path, 'folder')
  const expected = <T>(name: string): T =>
    JSON.parse(readFileSync(join(folder.path, 'expect', name), 'utf8')) as T
  const env = { AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1', ANCHOR_INTERVAL: '2s' }
  await using city = await runCity(data, { env })
  const { instance } = city

  const { readings: before } = expected<{ readings: ApiReading[] }>('readings.json')
  const after = await allReadings(instance)
  const plain = ({ sensor_id, timestamp, measurements, aqi, blockchain }: ApiReading) =>
    `${sensor_id} ${Date.parse(timestamp)} ${JSON.stringify(measurements)} ${aqi} ${blockchain.hash}`
  expect(new Set(after.map(plain))).toEqual(
    new Set(after.map(plain)).union(new Set(before.map(plain))),
  )
  expect(after.length).toBe(rowsAtItsStop)

  const sensors = expected<{ sensors: ApiSensor[] }>('sensors.json').sensors
  const { sensors: listed } = await ask<{ sensors: ApiSensor[] }>(instance, '/v1/sensors')
  const placed = ({ id, area, location }: ApiSensor) => ({ id, area, location })
  expect(listed.map(placed)).toEqual(sensors.map(placed))

  const webhooks = expected<{ webhooks: ApiWebhook[] }>('webhooks.json').webhooks
  const { webhooks: now } = await ask<{ webhooks: ApiWebhook[] }>(instance, '/v1/webhooks')
  const wanted = ({ id, url, events, filters, created_at }: ApiWebhook) =>
    JSON.stringify([id, url, events, filters, Date.parse(created_at)])
  expect(now.map(wanted).toSorted()).toEqual(webhooks.map(wanted).toSorted())
  const waiting = await Promise.all(
    webhooks.map(({ id }) =>
      ask<{ deliveries: object[] }>(instance, `/v1/webhooks/${id}/deliveries`),
    ),
  )
  expect(waiting.flatMap(({ deliveries }) => deliveries).length).toBeGreaterThan(0)

  const bundles = join(folder.path, 'expect', 'bundles')
  for (const bundle of readdirSync(bundles)) {
    const { code, out } = await runCommand(verifyCommand, { words: [join(bundles, bundle)] })
    expect({ bundle, code, out }).toMatchObject({ code: 0 })
  }

  await using nc = await operatorOf(instance)
  await eventually('up raises the format level', async () => {
    const entry = await (await new Kvm(nc).open(buckets.system)).get(systemKeys.format)
    return entry?.string() === levelText(newestLevel)
  })
  const next = Date.now()
  await publishReading(nc, next)
  await using store = await checkedSqlite(data).open()
  const rows = await eventually('the next reading is stored', async () => {
    const found = await readRows(store)
    return found.some(({ timeMs }) => timeMs === next) && found
  })
  expect(rows.length).toBe(rowsAtItsStop + 1)
  for (const ofPartition of Map.groupBy(rows, ({ seq }) => partitionOfSeq(seq)).values()) {
    const numbers = ofPartition.map(({ seq }) => nOfSeq(seq)).toSorted((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  }
  // until then those of the last minute before the stop wait, which the audit says
  await eventually(
    'the next reading is anchored too, and the audit is green',
    async () => {
      const { code, out, err } = await runCommand(auditCommand, {
        flags: { data, json: true },
        env,
      })
      // contract 2 is in no final block yet
      if (code === exitCodes.tryAgain) return false
      if (out === '') throw new Error(`the audit has no report: ${err}`)
      const { fit } = (JSON.parse(out) as { rows: { fit: number } }).rows
      return code === 0 && fit === rowsAtItsStop + 1
    },
    { everyMs: 1_000 },
  )
}, 600_000)

async function ask<T>({ api, key }: RunningInstance, path: string): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, connection: 'close' }
  const response = await fetch(api + path, { headers })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

async function allReadings(instance: RunningInstance): Promise<readonly ApiReading[]> {
  type Page = { readonly readings: ApiReading[]; readonly next_cursor: string | null }
  const readings: ApiReading[] = []
  const path = '/v1/readings?start_time=2015-01-01T00:00:00Z&limit=1000'
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await ask(instance, cursor === '' ? path : `${path}&cursor=${cursor}`)
    readings.push(...page.readings)
    cursor = page.next_cursor
  }
  return readings
}

async function operatorOf({ nats, nats_operator }: RunningInstance): Promise<NatsConnection> {
  const { user = '', password = '' } = nats_operator ?? {}
  return await connectNats({ natsUrl: nats, natsLogin: { user, password } }, { name: 'test' })
}

async function publishReading(nc: NatsConnection, timeMs: number): Promise<void> {
  const body = { timestamp: new Date(timeMs).toISOString(), pm25: 12.3, pm10: 20, humidity: 60 }
  const answer = await nc.request(spokenSubject(aSensor), JSON.stringify(body))
  if (!('seq' in answer.json<object>())) throw new Error(answer.string())
}
