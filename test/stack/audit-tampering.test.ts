/** What an operator could try with everything in hand: the database, the log and the chain's node. */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { createWalletClient, encodeDeployData, encodeFunctionData, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditReport, audit } from '../../anchor/audit/audit.ts'
import { isBlockOf, readStory } from '../../anchor/audit/story.ts'
import { chainAt } from '../../anchor/chain/chain.ts'
import { openRpc } from '../../anchor/chain/rpc.ts'
import { encodeAnchorCall } from '../../anchor/contract/registry.ts'
import { batchContent } from '../../anchor/seal/batch-content.ts'
import { writeBlob } from '../../anchor/seal/write-blob.ts'
import { openSealedBatches } from '../../anchor/sealed-batches.ts'
import { command } from '../../cli/audit/audit.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import { partitionOfSeq, seqOf } from '../../core/air/reading.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { zeroHash } from '../../core/hex.ts'
import { formatIso } from '../../core/iso-time.ts'
import { beforeFirst, endOf, nextHeader } from '../../core/proof/batch.ts'
import { encodeHeader, headerHash, headOf } from '../../core/proof/header.ts'
import type { ArrivedReading, LogMessage } from '../../core/state/log-message.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { type Deployment, deploymentKey } from '../../schemas/anchoring/batch-record.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { anvilAccount, anvilChainId } from '../support/anvil.ts'
import { eventually } from '../support/eventually.ts'
import { badNetworks } from '../support/network-files.ts'
import { readingOf } from '../support/readings.ts'
import { runCommand } from '../support/run-command.ts'
import { compile, registries } from '../support/solidity.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const keccak = await createKeccak()
const ids = ['NGR-LOS-IKJ-001', 'NGR-LOS-YAB-002'] as const
const twin = 'NGR-LOS-LEK-003'
const nowMs = Math.floor(Date.now() / 1000) * 1000

let api: AnchoredApi
let rows: readonly ArrivedReading[]

const rounds = (count: number, fromMs: number) =>
  Array.from({ length: count }, (_, i) =>
    ids.map((sensor) => ({ sensor, timeMs: fromMs + i * 1_000, pm25: 1_000 + i })),
  ).flat()

beforeAll(async () => {
  api = await anchoredApi()
  for (const id of [...ids, twin]) await api.register({ id })
  rows = await api.commit(rounds(40, nowMs - hourMs))
  await api.anchored()
})
afterAll(() => api[Symbol.asyncDispose]())

const run = async (flags: Record<string, string | boolean> = {}) => {
  const env = { ...api.anchorEnv, AIRPROOF_DATA: dirname(api.storeFile) }
  const { code, out, err } = await runCommand(command, { flags: { ...flags, json: true }, env })
  return { code, err, report: (out === '' ? {} : JSON.parse(out)) as AuditReport }
}
const kindsOf = ({ findings }: AuditReport): string[] => findings.map(({ kind }) => kind)

function sql(statement: string, values: readonly (string | number)[] = []): void {
  using db = new DatabaseSync(api.storeFile, { timeout: 5_000 })
  db.prepare(statement).run(...values)
}
const remove = ({ sensor, timeMs }: ArrivedReading): void =>
  sql('delete from reading where s = (select n from sensor where id = ?) and t = ?', [
    sensor,
    timeMs,
  ])
const statusOf = async ({ sensor, timeMs }: ArrivedReading): Promise<object> =>
  (await (
    await api.get(`/v1/readings/${sensor}/verify?timestamp=${formatIso(timeMs)}`)
  ).json()) as object

test('rows made up above the anchored numbers, or of no partition, are found by audit and verify', async () => {
  const [like] = rows
  const made = [seqOf(partitionOfSeq(like!.seq), 5_000), seqOf(16, 1), seqOf(4_000, 7)].map(
    (seq, at): ArrivedReading => ({ ...like!, timeMs: like!.timeMs + 1 + at, seq }),
  )
  await api.store.writeBatch(made)
  const { code, report } = await run()
  expect(code).toBe(1)
  expect(kindsOf(report)).toEqual(['row', 'row', 'row'])
  const printed = report.findings.map(({ words }) => words).join('\n')
  expect(printed).toContain('the log holds no such reading')
  expect(printed).toContain('there is no partition 16')
  expect(printed).toContain('there is no partition 4000')
  const sampled = await run({ sample: '2000' })
  expect(sampled.code).toBe(1)
  expect(await Promise.all(made.map(statusOf))).toMatchObject([
    { status: 'mismatch', reason: 'not_in_log' },
    { status: 'mismatch', reason: 'no_batch' },
    { status: 'mismatch', reason: 'no_batch' },
  ])
  made.forEach(remove)
  expect((await run()).report.findings).toEqual([])
})

test('a row that waits for its anchor must be what the log holds, and must not wait for ever', async () => {
  const waiting = await api.commit(rounds(3, nowMs - 30 * minuteMs))
  const [first] = waiting
  const { code, report } = await run()
  expect([code, report.rows?.not_anchored]).toEqual([0, waiting.length])

  remove(first!)
  await api.store.writeBatch([readingOf({ ...first!, pm25: 1 })])
  expect((await run()).report.findings).toMatchObject([{ kind: 'row' }])
  await api.store.writeBatch([{ ...first!, timeMs: first!.timeMs + 1 }])
  expect(kindsOf((await run()).report)).toContain('number')
  remove({ ...first!, timeMs: first!.timeMs + 1 })
  remove(first!)
  await api.store.writeBatch([first!])
  expect((await run()).report.findings).toEqual([])
  await api.anchored()
  expect((await run()).report.rows?.not_anchored).toBe(0)
})

test('a batch in which one number is used twice and another never is found', async () => {
  const partition = partitionOf(twin)
  const readings = [nowMs - 20 * minuteMs, nowMs - 19 * minuteMs].map(
    (timeMs): ArrivedReading => ({
      ...rows[0]!,
      sensor: twin as SensorId,
      timeMs,
      arrivedMs: timeMs + 1_000,
      seq: seqOf(partition, 1),
    }),
  )
  // sealed by the operator, before our own sealer can, for a message that is still to come
  const { header: former } = await api.sealedBatch(await api.anchored())
  const end = endOf(former, keccak)
  const content = batchContent(end, keccak)
  const first = end.last + 1
  content.add(first, logMessage(partition, readings))
  const built = await content.build()
  const made = { last: first, sealedMs: Date.now(), beacon: zeroHash }
  const header = nextHeader(end, { ...made, ...(built.readings && { readings: built.readings }) })
  await using batches = await openSealedBatches(api.nc, [end])
  await batches.decideBoundary(header.index, { first, ...made })
  await writeBlob(jetstream(api.nc), header.index, encodeHeader(header, keccak), built)
  const hashes = { headerHash: headerHash(header, keccak), head: headOf(header, keccak) }
  await batches.putSealed({ header, ...hashes })
  const honest = await api.commit(
    readings.map(({ timeMs, values }) => ({ sensor: twin, timeMs, values })),
  )
  honest.forEach(remove)
  await api.store.writeBatch(readings)
  await api.commit(rounds(1, nowMs - 18 * minuteMs))
  await api.anchored()
  const { code, report } = await run()
  expect(code).toBe(1)
  expect(kindsOf(report)).toEqual(['number', 'number'])
  expect(report.findings[0]?.words).toContain(
    `another reading with its number ${seqOf(partition, 1)}`,
  )
  expect(report.findings[1]?.words).toContain(`the first is ${seqOf(partition, 2)}`)
})

/** As the log holds it. */
const logMessage = (partition: number, readings: readonly ArrivedReading[]): LogMessage => ({
  partition,
  worker: 'operator',
  rawLast: 1,
  rawLastTimeMs: nowMs,
  nLast: readings.length,
  lateTo: 0,
  listenedMs: 1_000,
  readings,
  events: [],
  held: [],
  deferred: [],
  refused: [],
  duplicates: [],
})

test('areas that were moved and statistics that were rewritten are found by --deep', async () => {
  await api.commit(rounds(20, nowMs - 50 * hourMs))
  await api.anchored()
  const deep = async () => {
    const { report } = await run({ deep: true })
    return { ...report, kinds: kindsOf(report).filter((kind) => kind !== 'number') }
  }
  expect((await deep()).findings.at(-1)?.words).toContain('not known how far they are computed')
  const [fromMs, toMs] = [floorTo(nowMs - 60 * hourMs, dayMs), floorTo(nowMs, dayMs) + dayMs]
  for (const area of ['Ikeja', wholeNetwork]) {
    const computed = (size: 'hour' | 'day') => api.store.computeBuckets(area, fromMs, toMs, size)
    await api.store.writeAreaHours(await computed('hour'))
    await api.store.writeAreaDays(await computed('day'))
  }
  await api.system.put(
    systemKeys.rollup,
    JSON.stringify({ position: api.lastSeq(), dirty: [], dirtyDays: [] }),
  )
  const before = await deep()
  expect(before.kinds).toEqual([])
  expect(before.covers).toMatchObject({
    compared: ['area', 'flags that follow from values', 'statistics of areas'],
    not_checked: ['flags that do not follow from values'],
  })

  const hour = floorTo(nowMs - 50 * hourMs, hourMs)
  sql('update area_hour set pm25_mean = pm25_mean - 1 where t = ?', [hour])
  const rewritten = await deep()
  expect(rewritten.kinds).toEqual(['statistics', 'statistics'])
  expect(rewritten.findings.at(-1)?.words).toContain(`hour of ${formatIso(hour)}`)
  const dirty = [['Ikeja', hour]]
  await api.system.put(
    systemKeys.rollup,
    JSON.stringify({ position: api.lastSeq(), dirty, dirtyDays: [] }),
  )
  // one that is to be computed again is excused for a day and no longer, whatever the record says
  expect((await deep()).kinds).toEqual(['statistics', 'statistics'])
  await api.system.put(
    systemKeys.rollup,
    JSON.stringify({ position: api.lastSeq(), dirty: [], dirtyDays: [] }),
  )
  sql('update area_hour set pm25_mean = pm25_mean + 1 where t = ?', [hour])

  sql('update reading set flags = 32 where t = ?', [nowMs - 50 * hourMs])
  expect((await deep()).findings.filter(({ kind }) => kind === 'rules')).toMatchObject(
    ids.map(() => ({
      words: expect.stringContaining('flags pm_high, where its values give none'),
    })),
  )
  sql('update reading set flags = 0 where t = ?', [nowMs - 50 * hourMs])

  sql(`insert into area(n, name) values (76, 'Nowhere')`)
  sql('update reading set a = 76 where t < ?', [nowMs - 49 * hourMs])
  const moved = await deep()
  expect(moved.kinds.filter((kind) => kind === 'area')).toHaveLength(ids.length)
  expect(moved.findings.find(({ kind }) => kind === 'area')?.words).toMatch(
    /^20 rows of NGR-LOS-\S+: area Nowhere, and the registry says Ikeja; the first at /,
  )
  expect(moved.kinds).toContain('statistics')
  expect((await run({ deep: true, sample: '10' })).code).toBe(2)
})

test('what is not anchored is not called checked: area, flags and statistics', async () => {
  sql(`insert or ignore into area(n, name) values (77, 'Elsewhere')`)
  sql('update reading set a = 77, flags = 1 where t < ?', [nowMs - 30 * minuteMs])
  const { report } = await run({ sample: '500' })
  expect(report.covers).toMatchObject({
    checked: ['sensor', 'time', 'number', 'pm25', 'pm10', 'co2', 'temperature', 'humidity', 'aqi'],
    compared: [],
    not_checked: ['area', 'flags', 'statistics of areas'],
    by_version: [{ version: 1, batches: report.anchors, readings: report.readings }],
  })
  const env = { ...api.anchorEnv, AIRPROOF_DATA: dirname(api.storeFile) }
  const { out } = await runCommand(command, { flags: { rows: 'none' }, env })
  expect(out).toContain('GREEN. Every anchor follows')
  expect(out).toContain('Not checked, because it is not anchored: rows, area, flags')
  expect(out).toContain('a demonstration chain')
  expect(out).not.toContain('nothing was changed')
})

test('another contract or chain than the one that is named from outside is not audited', async () => {
  const named = await run({ contract: api.deployment.contract, rows: 'none' })
  expect(named.report).toMatchObject({ ok: true, contract_named: true })
  const other = await run({ contract: `0x${'ab'.repeat(20)}` })
  expect([other.code, other.err]).toEqual([1, expect.stringContaining('which you named')])
  expect((await run({ 'chain-id': '1' })).code).toBe(1)
  using folder = temporaryFolder()
  const network = join(folder.path, 'network.json')
  const withNetwork = (text: string) => {
    writeFileSync(network, text)
    return run({ network, rows: 'none' })
  }
  const printed = await (await fetch(`${api.url}/v1/network`)).text()
  expect((await withNetwork(printed)).report).toMatchObject({ ok: true, contract_named: true })
  for (const [altered, words] of [
    [printed.replace('"id":31337', '"id":1'), 'is on chain 1'],
    [printed.replace(api.deployment.contract, `0x${'ab'.repeat(20)}`), 'is not one of the network'],
    [printed.replace(/"code_hash":"0x../, '"code_hash":"0x00'), 'names code that this airproof'],
  ] as const) {
    const refused = await withNetwork(altered)
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(words)])
  }
  for (const { text, why } of badNetworks) {
    const { code, err } = await withNetwork(text)
    expect([code, err]).toEqual([2, expect.stringContaining(why)])
  }
  // the operator's record hides the first story
  const later = await run({ block: String(api.deployment.block + 10_000), rows: 'none' })
  expect(later.code).toBe(75)
})

/** Ours, but for a way to begin the chain of heads again. */
function contractThatStartsAgain() {
  const source = readFileSync(registries[1].source, 'utf8')
  const again = `
    function again() external { head = keccak256(abi.encode(block.chainid, address(this))); }
}`
  using folder = temporaryFolder()
  const file = join(folder.path, 'AirproofAnchors.sol')
  writeFileSync(file, source.trimEnd().replace(/\}$/, again))
  return compile(file)
}

test('a contract of the operator’s own, in which history was anchored twice, is found out', async () => {
  const { abi, bytecode } = contractThatStartsAgain()
  const account = anvilAccount(3)
  const wallet = createWalletClient({ account, chain: foundry, transport: http(api.anvil.url) })
  const send = async (data: Hex, to?: Hex): Promise<{ contractAddress: Hex; blockNumber: Hex }> => {
    const hash = await wallet.sendTransaction({ data, gas: 2_000_000n, ...(to ? { to } : {}) })
    return eventually(`${hash} is mined`, async () => {
      const receipt = await api.anvil.rpc('eth_getTransactionReceipt', [hash])
      return (receipt ?? undefined) as { contractAddress: Hex; blockNumber: Hex } | undefined
    })
  }
  const args = [account.address, account.address]
  const { contractAddress: contract } = await send(encodeDeployData({ abi, bytecode, args }))
  const storyOf = async (sealedMs: number) => {
    let end = beforeFirst(anvilChainId, contract, keccak)
    const headersOf = []
    for (let batch = 0; batch < 2; batch++) {
      const header = nextHeader(end, { last: end.last, sealedMs: sealedMs + batch })
      const call = { ...header, headerHash: headerHash(header, keccak) }
      await send(encodeAnchorCall(call), contract)
      headersOf.push(header)
      end = endOf(header, keccak)
    }
    return headersOf
  }
  await storyOf(1)
  const { blockNumber } = await send(encodeFunctionData({ abi, functionName: 'again' }), contract)
  const second = await storyOf(1_000)
  await api.anvil.rpc('anvil_mine', ['0x4'])

  const deployment: Deployment = { ...api.deployment, contract, block: Number(blockNumber) }
  const expected = { chainId: undefined, genesisHash: undefined }
  const ask = openRpc({ urls: [api.anvil.url], timeoutMs: 5_000, expected })
  const story = await readStory(ask, [deployment])
  const auditOf = (reported: typeof story): Promise<AuditReport> =>
    audit({
      story: reported,
      headerOf: (index) => second[index - 1],
      blobs: {
        top: async () => ({ header: new Uint8Array(), leaves: 0, firsts: [], roots: [] }),
        tile: async () => undefined,
      },
      isBlock: isBlockOf(ask),
      keccak,
      from: 3,
      unanchored: { log: async function* () {}, headers: async () => [] },
      graceMs: minuteMs,
      anchorSinceMs: undefined,
      isPinned: false,
      thefts: new Set(),
    })
  expect((await auditOf(story)).findings).toMatchObject([{ kind: 'contract' }])
  // the canary: its events alone tell a story without a fault
  const chain = chainAt(ask, contract, account.address)
  const anchors = await chain.anchored(deployment.block, story.finalized.number)
  const head = anchors.at(-1)!.head
  const contracts = [{ ...story.contracts[0]!, anchors, head, isOurCode: true }]
  const believed = { ...story, contracts }
  expect(anchors).toHaveLength(2)
  expect((await auditOf(believed)).findings).toEqual([])

  const kv = await new Kvm(api.nc).open(buckets.anchoring)
  const kept = (await kv.get(deploymentKey))!.string()
  await kv.put(deploymentKey, JSON.stringify(deployment))
  const env = { ...api.anchorEnv, AIRPROOF_DATA: dirname(api.storeFile), ANCHOR_CONTRACT: '' }
  const { code, out } = await runCommand(command, { env })
  await kv.put(deploymentKey, kept)
  expect([code, out]).toEqual([1, expect.stringContaining('is not that of our contract')])
})

test('readings that wait for an anchor much longer than they should are found', async () => {
  await api.stopAnchor()
  const late = await api.commit([{ sensor: ids[0], timeMs: nowMs }])
  expect((await run({ rows: 'none' })).code).toBe(0)
  const dueS = Math.ceil(late[0]!.arrivedMs / 1000) + 60
  await api.anvil.rpc('evm_setNextBlockTimestamp', [dueS])
  await api.anvil.rpc('anvil_mine', ['0x4'])
  const { report } = await run()
  expect(kindsOf(report)).toContain('waiting')
})
