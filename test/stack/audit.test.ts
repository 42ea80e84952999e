import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditReport, audit } from '../../anchor/audit/audit.ts'
import { isBlockOf, readStory } from '../../anchor/audit/story.ts'
import { openRpc } from '../../anchor/chain/rpc.ts'
import type { Anchored } from '../../anchor/contract/registry.ts'
import { command } from '../../cli/audit/audit.ts'
import { storedLog } from '../../cli/audit/stored-log.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { minuteMs } from '../../core/time.ts'
import { readSealed } from '../../operate/exports/sealed-headers.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { type BatchBlobs, openBatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { headerKey } from '../../schemas/anchoring/batch-record.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import type { Told } from '../support/api.ts'
import { runCommand } from '../support/run-command.ts'

const ids = ['NGR-LOS-IKJ-001', 'NGR-LOS-YAB-002', 'NGR-LOS-LEK-003'] as const
const nowMs = Math.floor(Date.now() / 1000) * 1000
const keccak = await createKeccak()

let api: AnchoredApi
let rows: readonly ArrivedReading[]
let batches: number

const rounds = (count: number, fromMs: number): Told[] =>
  Array.from({ length: count }, (_, i) =>
    ids.map((sensor) => ({ sensor, timeMs: fromMs + i * 1_000, pm25: 1_000 + i })),
  ).flat()

beforeAll(async () => {
  api = await anchoredApi()
  for (const id of ids) await api.register({ id })
  const committed: ArrivedReading[] = []
  for (let batch = 0; batch < 4; batch++) {
    committed.push(...(await api.commit(rounds(150, nowMs - (60 - 10 * batch) * minuteMs))))
    await api.sealed()
  }
  rows = committed
  batches = await api.anchored()
})
afterAll(() => api[Symbol.asyncDispose]())

const run = async (flags: Record<string, string | boolean> = {}) => {
  const env = {
    ...api.anchorEnv,
    AIRPROOF_DATA: dirname(api.storeFile),
    AIRPROOF_API_KEY: api.key,
  }
  const printed = await runCommand(command, { flags: { ...flags, json: true }, env })
  return { ...printed, report: (printed.out === '' ? {} : JSON.parse(printed.out)) as AuditReport }
}

function sql(statement: string, { sensor, timeMs }: ArrivedReading): void {
  const db = new DatabaseSync(api.storeFile, { timeout: 5_000 })
  const row = 'where s = (select n from sensor where id = ?) and t = ?'
  db.prepare(`${statement} ${row}`).run(sensor, timeMs)
  db.close()
}

test('what was never touched is green: every anchor, every leaf, every row', async () => {
  const { code, report } = await run()
  expect(report.findings).toEqual([])
  expect(code).toBe(0)
  expect(report).toMatchObject({
    ok: true,
    chain_id: api.deployment.chainId,
    contract: api.deployment.contract,
    anchors: batches,
    readings: rows.length,
    leaves: rows.length,
    rows: { all: true, looked_at: rows.length, fit: rows.length, not_anchored: 0 },
  })
  const env = { ...api.anchorEnv, AIRPROOF_DATA: dirname(api.storeFile) }
  const inWords = await runCommand(command, { env })
  expect(inWords.out).toContain('GREEN')
  const later = await run({ from: String(batches) })
  expect(later.report).toMatchObject({ ok: true, from_batch: batches })
  const beyond = await run({ from: String(batches + 1) })
  expect([beyond.code, beyond.out]).toEqual([2, ''])
  expect(later.report.rows?.before).toBe(rows.length - later.report.readings)
})

test('samples of the database and of /v1 are green, and say that they are samples', async () => {
  const sampled = await run({ sample: '3000' })
  expect(sampled.code).toBe(0)
  expect(sampled.report.rows?.all).toBe(false)
  expect(sampled.report.rows?.looked_at).toBeGreaterThan(rows.length)
  expect(sampled.report.rows?.fit).toBe(sampled.report.rows?.looked_at)
  const { report, code } = await run({ api: api.url, sample: '40' })
  expect(report.findings).toEqual([])
  expect(code).toBe(0)
  expect(report.rows?.looked_at).toBeGreaterThan(0)
  expect((await run({ rows: 'none' })).report.rows).toBeNull()
})

test('a sample of nothing is not green', async () => {
  const server = createServer((_, answer) => answer.end('{"readings":[]}'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const from = `http://127.0.0.1:${port}`
  const { code, report } = await run({ api: from })
  server.close()
  expect([code, report.findings]).toEqual([
    1,
    [
      {
        kind: 'missing',
        words: `/v1 at ${from} gives no row, and ${rows.length} readings are anchored in the batches looked at`,
      },
    ],
  ])
})

test('a row that was altered is named, and one that was deleted is missed', async () => {
  const [victim] = rows
  sql('update reading set pm25 = pm25 + 1', victim!)
  const altered = await run()
  expect(altered.code).toBe(1)
  expect(altered.report.findings.map(({ kind }) => kind)).toEqual(['row', 'missing'])
  expect(altered.report.findings[0]?.words).toContain(victim!.sensor)
  sql('update reading set pm25 = pm25 - 1', victim!)

  sql('delete from reading', victim!)
  const deleted = await run()
  expect(deleted.code).toBe(1)
  expect(deleted.report.findings).toMatchObject([{ kind: 'missing', batch: 1 }])
  await api.store.writeBatch([victim!])
  expect((await run()).report.findings).toEqual([])
})

test('a row that was made up is found whatever number it is given', async () => {
  const [like] = rows
  const forged = { ...like!, timeMs: like!.timeMs + 1 }
  await api.store.writeBatch([forged])
  const { report, code } = await run()
  expect(code).toBe(1)
  expect(report.findings).toMatchObject([{ kind: 'row' }])
  sql('delete from reading', forged)
})

test('headers that are swapped, altered or taken away are found', async () => {
  const kv = await new Kvm(api.nc).open(buckets.batches)
  const [first, second] = [await api.sealedBatch(1), await api.sealedBatch(2)]
  await kv.put(headerKey(1), JSON.stringify(second))
  await kv.put(headerKey(2), JSON.stringify(first))
  const swapped = await run({ rows: 'none' })
  expect(swapped.report.findings).toMatchObject([
    { kind: 'header', batch: 1 },
    { kind: 'header', batch: 2 },
  ])
  await kv.put(headerKey(2), JSON.stringify(second))
  const { nLast, ...rest } = first.header
  const numbers = { ...first, header: { ...rest, nLast: nLast.map((n) => n + 1) } }
  for (const header of [JSON.stringify(numbers), '{}', undefined]) {
    if (header === undefined) await kv.delete(headerKey(1))
    else await kv.put(headerKey(1), header)
    const { code, report } = await run({ rows: 'none' })
    expect(code).toBe(1)
    expect(report.findings).toMatchObject([{ kind: 'header', batch: 1 }])
  }
  await kv.put(headerKey(1), JSON.stringify(first))
  expect((await run()).code).toBe(0)
})

/** The audit over blobs, or a chain, that say something else than they did. */
async function auditWith({
  blobs,
  anchors = (all) => all,
  isBlock,
}: {
  isBlock?: (hash: string) => Promise<boolean>
  blobs?: (real: BatchBlobs) => BatchBlobs
  anchors?: (all: readonly Anchored[]) => readonly Anchored[]
}): Promise<AuditReport> {
  const ask = openRpc({
    urls: [api.anvil.url],
    timeoutMs: 5_000,
    expected: { chainId: undefined, genesisHash: undefined },
  })
  const story = await readStory(ask, [api.deployment])
  const contracts = story.contracts.map((reported) => ({
    ...reported,
    anchors: anchors(reported.anchors),
  }))
  const { sealed } = await readSealed(api.nc)
  const real = await openBatchBlobs(api.nc)
  return audit({
    story: { ...story, contracts },
    headerOf: (index) => sealed.get(index)?.header,
    blobs: blobs?.(real) ?? real,
    isBlock: isBlock ?? isBlockOf(ask),
    keccak,
    from: 1,
    unanchored: { log: (fromSeq) => storedLog(api.nc, fromSeq), headers: async () => [] },
    graceMs: minuteMs,
    anchorSinceMs: undefined,
    isPinned: false,
    thefts: new Set(),
  })
}

test('a blob is found out whatever is done to its leaves', async () => {
  expect((await auditWith({})).findings).toEqual([])
  const tileOf =
    (change: (leaves: Uint8Array[]) => Uint8Array[] | undefined) =>
    (real: BatchBlobs): BatchBlobs => ({
      ...real,
      tile: async (index, tile) => {
        const leaves = await real.tile(index, tile)
        return index === 1 && tile === 0 && leaves ? change(leaves) : leaves
      },
    })
  const changes: ((leaves: Uint8Array[]) => Uint8Array[] | undefined)[] = [
    (leaves) => leaves.with(3, keccak(leaves[3]!)),
    (leaves) => leaves.with(4, leaves[3]!),
    (leaves) => leaves.toSpliced(3, 2, leaves[4]!, leaves[3]!),
    (leaves) => leaves.slice(1),
    (leaves) => [...leaves, leaves[0]!],
    () => undefined,
  ]
  for (const change of changes) {
    const { findings } = await auditWith({ blobs: tileOf(change) })
    expect(findings.length).toBeGreaterThan(0)
    for (const finding of findings) expect(finding).toMatchObject({ kind: 'blob', batch: 1 })
  }
  const gone = await auditWith({ blobs: (real) => ({ ...real, top: async () => undefined }) })
  expect(gone.findings).toHaveLength(batches)
})

test('an anchor that is left out, swapped, or says something else breaks the story', async () => {
  const kinds = async (anchors: (all: readonly Anchored[]) => readonly Anchored[]) =>
    new Set((await auditWith({ anchors })).findings.map(({ kind }) => kind))
  const withoutOne = await kinds((all) => all.toSpliced(1, 1))
  expect([...withoutOne]).toEqual(expect.arrayContaining(['events', 'head', 'claims']))
  expect(await kinds((all) => all.slice(0, -1))).toEqual(new Set(['head']))
  expect(await kinds((all) => [all[1]!, all[0]!, ...all.slice(2)])).toContain('events')
  const second = (change: (anchor: Anchored) => Anchored) => (all: readonly Anchored[]) =>
    all.map((anchor, at) => (at === 1 ? change(anchor) : anchor))
  expect(await kinds(second((anchor) => ({ ...anchor, last: anchor.last + 1 })))).toContain(
    'events',
  )
  expect(await kinds(second((anchor) => ({ ...anchor, root: all0 })))).toContain('head')
})

test('a block that is recorded as seen before, and is not of the chain, is found', async () => {
  const { sealed } = await readSealed(api.nc)
  const named = [...sealed.values()].filter(({ header }) => !/^0x0+$/.test(header.beacon))
  expect(named.length).toBeGreaterThan(0)
  const { findings } = await auditWith({ isBlock: async () => false })
  expect(findings.map(({ kind }) => kind)).toEqual(named.map(() => 'beacon'))
})

const all0 = `0x${'00'.repeat(32)}` as const

test('a chain that is away is a reason to try again, and says nothing of the data', async () => {
  const away = await run({ rpc: 'http://127.0.0.1:1' })
  expect([away.code, away.out]).toEqual([75, ''])
})
