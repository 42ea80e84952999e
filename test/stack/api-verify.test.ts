import { DatabaseSync } from 'node:sqlite'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyBundle } from '../../anchor/verifier/airproof-verify.js'
import { partitionOfSeq, seqOf } from '../../core/air/reading.ts'
import { valueOf } from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { minuteMs } from '../../core/time.ts'
import { type Checked, checkedKey, headerKey } from '../../schemas/anchoring/batch-record.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import type { Told } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'

const ids = ['NGR-LOS-IKJ-001', 'NGR-LOS-YAB-002', 'NGR-LOS-LEK-003'] as const
const nowMs = Math.floor(Date.now() / 1000) * 1000

const rounds = (count: number, fromMs: number): Told[] =>
  Array.from({ length: count }, (_, i) =>
    ids.map((sensor) => ({ sensor, timeMs: fromMs + i * 1_000, pm25: 1_000 + i, co2: null })),
  ).flat()

type Verified = {
  status: string
  reason: string | null
  reading_hash: string
  merkle_root: string | null
  ledger_tx: string | null
  verified_at: string | null
  anchored_at: string | null
  expected_by: string | null
  chain_checked_at: string | null
  merkle_proof: { root: string; path: string[]; leaf_index: number; leaf_count: number } | null
  ledger: { tx_hash: string; explorer_url: string; chain_id: number; contract: string } | null
  reading: { seq: number }
  proof_url: string | null
}

const verifyPath = ({ sensor, timeMs }: Pick<Told, 'sensor' | 'timeMs'>): string =>
  `/v1/readings/${sensor}/verify?timestamp=${formatIsoMs(timeMs)}`
const verify = async (
  api: AnchoredApi,
  reading: Pick<Told, 'sensor' | 'timeMs'>,
): Promise<Verified> => {
  const answer = await api.get(verifyPath(reading))
  expect(answer.status).toBe(200)
  return (await answer.json()) as Verified
}

const started = async (env: Readonly<Record<string, string>> = {}): Promise<AnchoredApi> => {
  const api = await anchoredApi({ env })
  for (const id of ids) await api.register({ id })
  return api
}

test('a reading goes from pending through anchoring to verified, and its bundle proves it offline', async () => {
  await using api = await started({ AIRPROOF_EXPLORER_URL: 'https://explorer.example/' })
  const committed = rounds(200, nowMs - 10 * minuteMs)
  const one = committed[17]!
  await api.commit(committed)
  const index = await api.sealed()
  const between = await eventually('the API knows of the batch', async () => {
    const seen = await verify(api, one)
    return seen.status === 'pending' ? undefined : seen
  })
  expect(between).toMatchObject({ status: 'anchoring', verified_at: null, proof_url: null })
  expect(Date.parse(between.expected_by!)).toBeGreaterThan(Date.now())
  const early = await api.get(
    `/v1/readings/${one.sensor}/proof?timestamp=${formatIsoMs(one.timeMs)}`,
  )
  expect(early.status).toBe(404)
  expect(await early.json()).toMatchObject({ error: { code: 'not_anchored_yet' } })

  expect(await api.anchored()).toBe(index)
  const seen = await eventually('it is verified', async () => {
    const verification = await verify(api, one)
    return verification.status === 'verified' ? verification : undefined
  })
  const { header } = await api.sealedBatch(index)
  expect(seen).toMatchObject({
    reason: null,
    expected_by: null,
    merkle_root: header.root,
    ledger_tx: `https://explorer.example/tx/${seen.ledger!.tx_hash}`,
    merkle_proof: { root: header.root, leaf_count: header.count },
    ledger: {
      chain_id: api.deployment.chainId,
      demonstration: true,
      contract: api.deployment.contract,
    },
    reading: { sensor_id: one.sensor, time_ms: one.timeMs, pm25: one.pm25, co2: null },
  })
  expect(Math.abs(Date.parse(seen.verified_at!) - Date.now())).toBeLessThan(minuteMs)

  for (const path of [
    `/v1/readings/${one.sensor}/proof?timestamp=${formatIsoMs(one.timeMs)}`,
    seen.proof_url!.replace(api.url, ''),
    `/proof/${one.sensor}/${formatIsoMs(one.timeMs)}.airproof.json`,
  ]) {
    const answer = await api.get(path)
    expect([path, answer.status]).toEqual([path, 200])
    const text = await answer.text()
    expect(text.length).toBeLessThan(12 * 1024)
    const proven = await verifyBundle(text, {
      chainId: api.deployment.chainId,
      contract: api.deployment.contract,
      rpc: api.anvil.url,
    })
    expect(proven.checks.filter(({ ok }) => !ok)).toEqual([])
    expect(proven.reading).toMatchObject({ sensor_id: one.sensor, seq: seen.reading.seq })
  }

  const list = (await (await api.get(`/v1/readings?sensor_id=${one.sensor}&limit=500`)).json()) as {
    readings: { blockchain: object; blockchain_tx: string }[]
  }
  expect(list.readings).toHaveLength(200)
  for (const { blockchain, blockchain_tx } of list.readings) {
    expect(blockchain).toMatchObject({
      verified: true,
      status: 'verified',
      tx_hash: seen.ledger!.tx_hash,
    })
    expect(blockchain_tx).toBe(seen.ledger!.tx_hash)
  }
  await api.commit(rounds(1, nowMs))
  const [fresh] = ((await (await api.get('/v1/readings?limit=1')).json()) as typeof list).readings
  expect(fresh?.blockchain).toMatchObject({
    verified: false,
    status: expect.not.stringMatching('verified'),
  })
})

test('a wrong request, or a reading that never existed, gets the usual errors', async () => {
  await using api = await started()
  const [one] = await api.commit(rounds(1, nowMs))
  const code = async (path: string): Promise<[number, string]> => {
    const answer = await api.get(path)
    const { error } = (await answer.json()) as { error: { code: string } }
    return [answer.status, error.code]
  }
  const base = `/v1/readings/${one!.sensor}`
  expect(await code(`${base}/verify`)).toEqual([400, 'bad_parameter'])
  expect(await code(`${base}/verify?timestamp=yesterday`)).toEqual([400, 'bad_parameter'])
  expect(await code(`${base}/verify?timestamp=2020-01-01T00:00:00Z`)).toEqual([
    404,
    'reading_not_found',
  ])
  expect(await code('/v1/readings/nobody/verify?timestamp=2020-01-01')).toEqual([
    404,
    'sensor_not_found',
  ])
  expect(await code(`${base}/verify?time=2020-01-01`)).toEqual([400, 'unknown_parameter'])
  const pinned = `/proof/${one!.sensor}/${formatIsoMs(one!.timeMs)}?hash=`
  expect(await code(`${pinned}0x12`)).toEqual([400, 'bad_parameter'])
  expect(await code(`${pinned}0x${'00'.repeat(32)}`)).toEqual([409, 'other_hash'])
  const open = await fetch(`${api.url}${base}/verify?timestamp=2020-01-01`)
  expect(open.status).toBe(401)
})

test('a row that is not in the database yet proves nothing, whatever the log holds', async () => {
  let isStoring = true
  await using api = await anchoredApi({ isStoring: () => isStoring })
  await api.register({ id: ids[0] })
  await api.commit([{ sensor: ids[0], timeMs: nowMs }])
  isStoring = false
  const [late] = await api.commit([{ sensor: ids[0], timeMs: nowMs + 1_000 }])
  await api.anchored()
  await eventually('the stored one is verified', async () => {
    const { status } = await verify(api, { sensor: ids[0], timeMs: nowMs })
    return status === 'verified'
  })
  expect((await verify(api, late!)).status).toBe('pending')
  await api.store.writeBatch([late!])
  expect((await verify(api, late!)).status).toBe('verified')
})

let altered: AnchoredApi
let rows: readonly ArrivedReading[]

beforeAll(async () => {
  altered = await started()
  rows = await altered.commit(rounds(120, nowMs - 30 * minuteMs))
  await altered.anchored()
  await eventually('it is verified', async () => {
    return (await verify(altered, rows[0]!)).status === 'verified'
  })
})
afterAll(() => altered[Symbol.asyncDispose]())

const mismatches = async (reason: string): Promise<number> => {
  const text = await (await fetch(`${altered.adminUrl}/metrics`)).text()
  const line = new RegExp(
    `^airproof_api_mismatch_total\\{[^}]*reason="${reason}".*\\} (\\d+)$`,
    'm',
  )
  return Number(line.exec(text)?.[1])
}

/** Changes a row without the processes' knowledge. */
function sql(statement: string, { sensor, timeMs }: ArrivedReading, values: number[] = []): void {
  const db = new DatabaseSync(altered.storeFile, { timeout: 5_000 })
  const row = 'where s = (select n from sensor where id = ?) and t = ?'
  db.prepare(`${statement} ${row}`).run(...values, sensor, timeMs)
  db.close()
}

test.for(['pm25 = pm25 + 1', 'co2 = 0', 'aqi = aqi - 1', 'seq = seq - 1'])(
  'a row altered in SQLite (%s) is a mismatch and an alarm, and its neighbour is verified',
  async (change) => {
    const [victim, neighbour] = [rows[10]!, rows[11]!]
    const before = await mismatches('leaf')
    sql(`update reading set ${change}`, victim)
    const seen = await verify(altered, victim)
    expect(seen).toMatchObject({
      status: 'mismatch',
      reason: 'leaf',
      merkle_proof: null,
      verified_at: null,
      proof_url: null,
    })
    expect(await mismatches('leaf')).toBe(before + 1)
    expect((await verify(altered, neighbour)).status).toBe('verified')
    const time = formatIsoMs(victim.timeMs)
    const bundle = await altered.get(`/v1/readings/${victim.sensor}/proof?timestamp=${time}`)
    expect(bundle.status).toBe(409)
    const page = await fetch(`${altered.url}/proof/${victim.sensor}/${time}`, {
      headers: { accept: 'text/html' },
    })
    expect(await page.text()).toContain('data-status="mismatch"')

    const { values, aqi, seq } = victim
    const pm25 = valueOf(values, 'pm25')
    sql('update reading set pm25 = ?, co2 = null, aqi = ?, seq = ?', victim, [pm25!, aqi!, seq])
    expect((await verify(altered, victim)).status).toBe('verified')
  },
)

test('a row that is deleted from SQLite proves nothing any more', async () => {
  const [, , , , victim] = rows
  sql('delete from reading', victim!)
  expect((await verify(altered, victim!)).status).toBe('pending')
  await altered.store.writeBatch([victim!])
  expect((await verify(altered, victim!)).status).toBe('verified')
})

test('an inner node of the tree, a root or a made-up sequence number does not pass for a reading', async () => {
  const [victim] = rows
  for (const seq of [victim!.seq + 1, victim!.seq + 39, partitionOfSeq(victim!.seq) * 2 ** 40]) {
    sql('update reading set seq = ?', victim!, [seq])
    expect((await verify(altered, victim!)).status).toBe('mismatch')
  }
  // above everything that was accepted, or of a partition that does not exist
  const never = [
    [victim!.seq + 1_000_000, 'not_in_log'],
    [seqOf(16, 1), 'no_batch'],
  ] as const
  for (const [seq, reason] of never) {
    sql('update reading set seq = ?', victim!, [seq])
    expect(await verify(altered, victim!)).toMatchObject({ status: 'mismatch', reason })
  }
  sql('update reading set seq = ?', victim!, [victim!.seq])
  expect((await verify(altered, victim!)).status).toBe('verified')
})

test('an altered header, or two that are swapped, prove nothing and are counted', async () => {
  await altered.commit(rounds(5, nowMs - 5 * minuteMs))
  const index = await altered.anchored()
  const kv = await new Kvm(altered.nc).open(buckets.batches)
  const [victim] = rows
  const statusOf = async (): Promise<string> => (await verify(altered, victim!)).status
  const [first, last] = [await altered.sealedBatch(1), await altered.sealedBatch(index)]
  await eventually('all is well', async () => (await statusOf()) === 'verified')

  const later = { ...first, header: { ...first.header, sealedMs: first.header.sealedMs + 1 } }
  await kv.put(headerKey(1), JSON.stringify(later))
  await eventually('it is a mismatch', async () => (await statusOf()) === 'mismatch')
  await kv.put(headerKey(1), JSON.stringify(last))
  await kv.put(headerKey(index), JSON.stringify(first))
  await eventually('it is a mismatch still', async () => (await statusOf()) === 'mismatch')
  const metrics = await (await fetch(`${altered.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/^airproof_api_altered_batches\{.*\} [1-9]/m)
  await kv.put(headerKey(1), JSON.stringify(first))
  await kv.put(headerKey(index), JSON.stringify(last))
  await eventually('all is well again', async () => (await statusOf()) === 'verified')
})

test('a batch not checked for five minutes is not called verified, and its bundle stays', async () => {
  await altered.stopAnchor()
  const kv = await new Kvm(altered.nc).open(buckets.batches)
  const checked = (await kv.get(checkedKey))!.json<Checked>()
  const old = { ...checked, checkedMs: Date.now() - 5 * minuteMs - 1_000 }
  await kv.put(checkedKey, JSON.stringify(old))
  const seen = await eventually('it is not verified', async () => {
    const verification = await verify(altered, rows[0]!)
    return verification.status === 'verified' ? undefined : verification
  })
  expect(seen).toMatchObject({
    status: 'anchoring',
    reason: 'not_checked',
    chain_checked_at: formatIsoMs(old.checkedMs),
  })
  const list = (await (await altered.get('/v1/readings?limit=1')).json()) as {
    readings: { blockchain: object }[]
  }
  expect(list.readings[0]?.blockchain).toMatchObject({ verified: false, status: 'anchoring' })
  const link = `/proof/${rows[0]!.sensor}/${formatIsoMs(rows[0]!.timeMs)}`
  expect((await verifyBundle(await (await fetch(altered.url + link)).text())).ok).toBe(true)
  await kv.put(checkedKey, JSON.stringify({ ...checked, checkedMs: Date.now() }))
  await eventually('it is verified', async () => {
    return (await verify(altered, rows[0]!)).status === 'verified'
  })
  // a head that does not follow from the headers
  await kv.put(checkedKey, JSON.stringify({ ...checked, head: `0x${'12'.repeat(32)}` }))
  await eventually('it is not verified', async () => {
    return (await verify(altered, rows[0]!)).status !== 'verified'
  })
})
