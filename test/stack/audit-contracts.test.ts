/** The audit of batches in several contracts and both versions, where the operator may lie at any step. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kvm } from '@nats-io/kv'
import { encodeFunctionData, type Hex, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { audit } from '../../anchor/audit/audit.ts'
import { isBlockOf, readStory } from '../../anchor/audit/story.ts'
import { auditLines } from '../../anchor/audit/words.ts'
import { registryAbi, registryAbi2 } from '../../anchor/contract/abi.ts'
import { encodeAnchorCall, encodeSetWriter } from '../../anchor/contract/registry.ts'
import { type ContractEnd, networkDocument } from '../../api/proofs/network.ts'
import { usAqiOf } from '../../core/air/index/us-epa.ts'
import { maskOf } from '../../core/air/quality.ts'
import { type Reading, seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { endOf, nextHeader } from '../../core/proof/batch.ts'
import { noContract, noRecord } from '../../core/proof/chain-record.ts'
import { type BatchHeader, headerHash, headOf, recordOf } from '../../core/proof/header.ts'
import { packNumbers } from '../../core/proof/packed-numbers.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { headerKey, sealedEntry } from '../../schemas/anchoring/batch-record.ts'
import { type AnyDeployment, deploymentKeyOf } from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'
import { siteOf, testApi } from '../support/api.ts'
import { type AuditedNetwork, auditedNetwork } from '../support/chain/audited-network.ts'
import { valued } from '../support/readings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const keccak = await createKeccak()
const nowMs = Math.floor(Date.now() / 1_000) * 1_000
const endAt = (header: BatchHeader): ContractEnd => ({
  block: 1,
  txIndex: 0,
  head: headOf(header, keccak),
  nLast: header.nLast,
})

type Of = {
  readonly partition?: number
  readonly version?: 1 | 2
  readonly more?: Partial<Reading>
}

const readingOf = (n: number, { partition = 3, version = 2, more }: Of = {}): Reading => ({
  ...valued({
    sensor: `NGR-LOS-TST-${String(100 * partition + (n % 7)).padStart(4, '0')}` as SensorId,
    area: 'Ikeja',
    timeMs: nowMs - 3_600_000 + n * 1_000 + partition,
    pm25: 1_000 + n,
    aqi: usAqiOf(1_000 + n, null),
    flags: 0,
    seq: seqOf(partition, n),
  }),
  ...(version === 2 && { leafVersion: 2 as const }),
  ...more,
})
const some = (from: number, to: number, of: Of = {}): Reading[] =>
  Array.from({ length: to - from + 1 }, (_, i) => readingOf(from + i, of))

/** A new network with one batch of version 2 of 300 readings in two partitions, which may be a lie. */
async function second(
  lie: Parameters<AuditedNetwork['seal']>[1] = {},
  readings: readonly Reading[] = [...some(1, 200), ...some(1, 100, { partition: 9 })],
) {
  const network = await auditedNetwork()
  await network.deploy({ former: noContract, from: noRecord })
  await network.seal(readings, lie)
  await network.store.writeBatch(readings)
  await network.finalize()
  return network
}

function sql(network: AuditedNetwork, statement: string, ...values: (string | number)[]): void {
  using db = new DatabaseSync(network.storeFile, { timeout: 5_000 })
  db.prepare(statement).run(...values)
}

test('a story of both contracts is one: green across the border, and each version covers its columns', async () => {
  await using network = await auditedNetwork()
  const first = await network.deploy()
  const old = [...some(1, 300, { version: 1 }), ...some(1, 40, { partition: 9, version: 1 })]
  await network.seal(old)
  await network.seal([])
  const later = await network.goOn()
  const next = [...some(301, 700), ...some(41, 90, { partition: 9 })]
  await network.seal(next)
  await network.seal(some(701, 710))
  const all = [...old, ...next, ...some(701, 710)]
  await network.store.writeBatch(all)
  await network.finalize()
  const { code, report } = await network.run()
  expect(report.findings).toEqual([])
  expect([code, report.anchors, report.readings, report.leaves]).toEqual([0, 4, 800, 800])
  expect(report.rows).toMatchObject({ looked_at: 800, fit: 800 })
  expect(report.contracts).toEqual([
    {
      contract: first.contract,
      version: 1,
      first_batch: 1,
      anchors: 2,
      abandoned: 0,
      abandoned_ours: 0,
      abandoned_readings: 0,
      still_open_to: network.account.address,
      theft_named: false,
    },
    {
      contract: later.contract,
      version: 2,
      first_batch: 3,
      anchors: 2,
      abandoned: 0,
      abandoned_ours: 0,
      abandoned_readings: 0,
      still_open_to: null,
      theft_named: false,
    },
  ])
  expect(report.covers).toMatchObject({
    not_checked: ['area', 'flags', 'statistics of areas'],
    by_version: [
      {
        version: 1,
        batches: 2,
        readings: 340,
        not_checked: ['area', 'flags', 'statistics of areas'],
      },
      { version: 2, batches: 2, readings: 460, not_checked: ['statistics of areas'] },
    ],
  })
  for (const from of ['2', '3', '4'])
    expect((await network.run({ from })).report).toMatchObject({
      ok: true,
      from_batch: Number(from),
    })
  expect((await network.run({ from: '5' })).code).toBe(2)
  expect((await network.run({ sample: '400' })).code).toBe(0)

  // a row that claims the other version of leaf
  sql(network, 'update reading set leaf = 1 where seq = ?', seqOf(3, 705))
  expect((await network.run()).printed).toEqual([
    expect.stringContaining('it has a leaf of version 1, and batch 4 is of version 2'),
    expect.stringContaining(
      `missing: batch 4: 1 of its 10 readings have no row that fits; the first is number ${seqOf(3, 705)}`,
    ),
  ])
})

test('of a row of version 2 area, flags, every value and the number are checked', async () => {
  await using network = await second()
  expect((await network.run()).report.findings).toEqual([])
  sql(network, `insert into area(n, name) values (76, 'Nowhere')`)
  const seq = seqOf(3, 17)
  for (const [change, back] of [
    ['a = 76', "a = (select n from area where name = 'Ikeja')"],
    ['flags = 8', 'flags = 0'],
    ['pm25 = pm25 + 1', 'pm25 = pm25 - 1'],
  ] as const) {
    sql(network, `update reading set ${change} where seq = ?`, seq)
    const { code, printed } = await network.run()
    expect([code, printed]).toEqual([
      1,
      [
        expect.stringMatching(/^row: NGR-LOS-TST-\S+ .*: it is not what was anchored in batch 1$/),
        `missing: batch 1: 1 of its 300 readings have no row that fits; the first is number ${seq}`,
      ],
    ])
    sql(network, `update reading set ${back} where seq = ?`, seq)
  }
  sql(network, 'delete from reading where seq = ?', seqOf(9, 4))
  expect((await network.run()).printed).toEqual([
    `missing: batch 1: 1 of its 300 readings have no row that fits; the first is number ${seqOf(9, 4)}`,
  ])
  // numbers beyond the anchored ones, and of no partition
  const like = readingOf(1)
  await network.store.writeBatch([
    { ...like, timeMs: like.timeMs + 1, seq: seqOf(3, 5_000) },
    { ...like, timeMs: like.timeMs + 2, seq: seqOf(16, 1) },
  ])
  const { printed } = await network.run()
  expect(printed).toContainEqual(expect.stringContaining('the log holds no such reading'))
  expect(printed).toContainEqual(expect.stringContaining('there is no partition 16'))
})

test('places that were swapped in the tree are found, with the number whose place it is', async () => {
  await using network = await second({
    leaves: (all) => [...all].with(5, all[6]!).with(6, all[5]!),
  })
  expect((await network.run()).printed.toSorted()).toEqual([
    expect.stringContaining('missing: batch 1: 2 of its 300 readings'),
    expect.stringMatching(
      RegExp(`^number: .*batch 1 has it in the place of number ${seqOf(3, 6)}$`),
    ),
    expect.stringMatching(
      RegExp(`^number: .*batch 1 has it in the place of number ${seqOf(3, 7)}$`),
    ),
  ])
})

test('a number that is used twice, and another never, is found', async () => {
  const twice = readingOf(2, { more: { seq: seqOf(3, 1) } })
  const readings = [readingOf(1), twice, ...some(3, 20)]
  await using network = await second({}, readings)
  const { code, printed } = await network.run()
  expect(code).toBe(1)
  expect(printed).toEqual([
    expect.stringMatching(/^number: .* batch 1 has it in the place of number /),
    `missing: batch 1: 1 of its 20 readings have no row that fits; the first is number ${seqOf(3, 2)}`,
  ])
})

test('a number that is left out, or is out of range, has no place', async () => {
  const readings = [...some(1, 9), readingOf(11)]
  await using network = await second({}, readings)
  const { printed } = await network.run()
  // number 11 is above the anchored ones, and number 10 is of no row
  expect(printed).toEqual([
    `missing: batch 1: 1 of its 10 readings have no row that fits; the first is number ${seqOf(3, 10)}`,
    expect.stringContaining(`its number ${seqOf(3, 11)} is above every anchored one`),
  ])
})

test('leaves of version 1 in a batch of version 2 are found', async () => {
  await using network = await second({}, some(1, 3, { version: 1 }))
  expect((await network.run()).printed).toContainEqual(
    expect.stringContaining('it has a leaf of version 1, and batch 1 is of version 2'),
  )
})

test('a header whose numbers are not the ones of the contract is found', async () => {
  await using network = await second()
  const header = network.headers.get(1)!
  const nLast = header.nLast.with(3, 199).with(9, 101)
  const other = { ...header, nLast }
  const sealed = {
    header: other,
    headerHash: `0x${'0'.repeat(64)}`,
    head: `0x${'0'.repeat(64)}`,
  } as const
  await network.batches.put(headerKey(1), JSON.stringify(sealedEntry(sealed)))
  expect((await network.run({ rows: 'none' })).printed).toEqual([
    'header: batch 1: its header is not the one that was anchored',
  ])
})

test('what only the abandoned end of a contract holds is a finding, until it is named as a theft', async () => {
  await using network = await second()
  await network.seal(some(201, 210))
  await network.seal([readingOf(211), readingOf(212)], { isThief: true })
  const old = (await network.run({ rows: 'none' })).report.contract
  const recovered = await network.goOn(2)
  await network.seal(some(211, 230))
  await network.store.writeBatch([...some(201, 230)])
  await network.finalize()
  const unnamed = await network.run()
  expect([unnamed.code, unnamed.printed]).toEqual([
    1,
    [
      `abandoned: contract ${old} holds 2 readings in 1 batch from 3 on that no later contract has: history was taken away, or a thief of the writer's key anchored them. If you know that it was a theft, say so with --theft ${old}`,
    ],
  ])
  const { code, report, printed } = await network.run({ theft: old })
  expect([code, printed]).toEqual([0, []])
  expect(report).toMatchObject({ anchors: 3, contract: recovered.contract })
  expect(report.contracts).toMatchObject([
    {
      contract: old,
      first_batch: 1,
      anchors: 2,
      abandoned: 1,
      abandoned_ours: 0,
      abandoned_readings: 2,
      theft_named: true,
    },
    { contract: recovered.contract, first_batch: 3, anchors: 1, abandoned: 0 },
  ])
  expect(auditLines(report)).toContain(
    'Not covered: 2 readings of abandoned batches, which are a thief’s, as you said.',
  )
  // the newest is the one to name; of a former one nothing says which contract follows it
  const named1 = { contract: recovered.contract, theft: old }
  expect((await network.run(named1)).report).toMatchObject({
    ok: true,
    contract_named: true,
  })
  expect(await network.run({ contract: old })).toMatchObject({
    code: 1,
    err: expect.stringContaining('is a former contract of these data'),
  })

  // a network's file names all of them
  using folder = temporaryFolder()
  const file = join(folder.path, 'network.json')
  const recorded = await readDeployments(network.anchoring)
  const named = (contracts: readonly AnyDeployment[]) => {
    const settings = {
      name: 'Test',
      chainName: undefined,
      licence: undefined,
      attribution: undefined,
      archiveUrl: undefined,
    }
    const document = networkDocument({
      settings,
      publicUrl: 'http://localhost',
      contracts,
      ends: new Map([...network.headers].map(([index, header]) => [index, endAt(header)])),
      keccak,
      formatLevel: 3,
    })
    writeFileSync(file, JSON.stringify(document))
    return network.run({ network: file, rows: 'none', theft: old })
  }
  expect((await named(recorded)).report).toMatchObject({ ok: true, contract_named: true })
  const foreign = { ...recorded[0]!, contract: `0x${'ab'.repeat(20)}` as const }
  for (const [contracts, words] of [
    [recorded.slice(0, -1), 'is not one of the network Test'],
    [
      [...recorded, foreign],
      "is not in the operator's record: what was anchored in it is left out",
    ],
    [recorded.map((one) => ({ ...one, chainId: 5 })), 'is on chain 5'],
    [
      recorded.map((one) => ({ ...one, former: foreign.contract })),
      "and the operator's record says after batch",
    ],
  ] as const)
    expect(await named(contracts)).toMatchObject({ code: 1, err: expect.stringContaining(words) })
})

test.each([1, 2] as const)(
  'numbers of 64 bits that a thief anchors in version %i are a finding, and nothing once they are abandoned',
  async (version) => {
    await using network = await auditedNetwork()
    const { contract } = await network.deploy(
      version === 1 ? undefined : { former: noContract, from: noRecord },
    )
    const rows = some(1, 50, { version })
    const header = await network.seal(rows)
    await network.store.writeBatch(rows)
    const most = 2n ** 64n - 1n
    const { index, last, n, ...hashes } = recordOf(header, keccak)
    const [first, second, third] = packNumbers(n)
    const numbers = [BigInt(first), BigInt(second), BigInt(third)] as const
    const record = { ...hashes, index: BigInt(index), last: BigInt(last), n: numbers }
    const theft =
      version === 1
        ? encodeFunctionData({
            abi: registryAbi,
            functionName: 'anchor',
            args: [headOf(header, keccak), most, header.root, header.root, most, most, most],
          })
        : encodeFunctionData({
            abi: registryAbi2,
            functionName: 'anchor',
            args: [record, zeroHash, header.root, most, numbers],
          })
    expect(await network.send(theft, contract as Hex)).toMatchObject({ status: '0x1' })
    await network.finalize()
    const { code, printed } = await network.run()
    const words =
      version === 1
        ? `events: batch 18446744073709552000: index ${most}, first ${most}, last ${most}, count ${most}: a log has no such number`
        : `events: batch 2: last ${most}: a log has no such number`
    expect([code, printed[0]]).toEqual([1, expect.stringContaining(words)])

    await network.goOn(1)
    const more = some(51, 60)
    await network.seal(more)
    await network.store.writeBatch(more)
    await network.finalize()
    const recovered = await network.run({ theft: contract })
    expect([recovered.code, recovered.printed]).toEqual([0, []])
    expect(recovered.report.contracts[0]).toMatchObject({ abandoned: 1, abandoned_ours: 0 })
  },
)

test('a contract that was given up is named as long as it has a writer, and readings that a thief anchors in it are a finding', async () => {
  await using network = await auditedNetwork()
  const { contract } = await network.deploy()
  const rows = some(1, 50, { version: 1 })
  const header = await network.seal(rows)
  await network.store.writeBatch(rows)
  await network.goOn(1)
  await network.finalize()
  const open = await network.run()
  expect([open.code, open.printed]).toEqual([0, []])
  expect(open.report.contracts.map((one) => one.still_open_to)).toEqual([
    network.account.address,
    null,
  ])
  const command = `\`airproof anchor writer --anchor-contract ${contract} --set none\``
  expect(auditLines(open.report).join()).toContain(command)

  const { root, timeMinMs, timeMaxMs } = header
  const counts = Array.from({ length: 16 }, () => 1)
  const readings = { root, timeMinMs, timeMaxMs, counts }
  const junk = nextHeader(endOf(header, keccak), { last: header.last + 1, sealedMs: 1, readings })
  const data = encodeAnchorCall({ ...junk, headerHash: headerHash(junk, keccak) })
  expect(await network.send(data, contract)).toMatchObject({ status: '0x1' })
  await network.send(encodeSetWriter(noContract), contract)
  await network.finalize()
  const { code, printed, report } = await network.run()
  expect([code, printed]).toEqual([
    1,
    [expect.stringContaining(`abandoned: contract ${contract} holds 16 readings in 1 batch`)],
  ])
  expect(report.contracts[0]).toMatchObject({ abandoned: 1, still_open_to: null })
  expect(auditLines(report).join()).not.toContain(command)
})

test('a recovery from nothing is green only if all that was anchored is anchored again', async () => {
  await using network = await second({}, some(1, 20))
  await network.seal([])
  await network.seal(some(21, 30))
  await network.store.writeBatch(some(21, 30))
  await network.finalize()
  const { report: before } = await network.run()
  expect(before.findings).toEqual([])
  const old = before.contract
  // the same batches in another contract, one after another
  const begun = await network.deploy({ former: noContract, from: noRecord })
  await network.finalize()
  expect((await network.run({ rows: 'none' })).printed).toEqual([
    `waiting: 30 readings in 2 batches from 1 on of the abandoned end of contract ${old} are not anchored again yet: is \`airproof anchor\` running?`,
  ])
  await network.seal(some(1, 20))
  await network.seal([])
  await network.seal(some(21, 30))
  await network.finalize()
  const again = await network.run()
  expect([again.code, again.printed]).toEqual([0, []])
  expect(again.report.contracts).toMatchObject([
    { contract: old, anchors: 0, abandoned: 3, abandoned_ours: 3, abandoned_readings: 0 },
    { contract: begun.contract, anchors: 3 },
  ])

  // and in a third without the readings of the last one
  await network.deploy({ former: noContract, from: noRecord })
  await network.seal(some(1, 20))
  await network.seal([])
  await network.batches.delete(headerKey(3))
  sql(network, 'delete from reading where seq > ?', seqOf(3, 20))
  await network.finalize()
  const rewritten = await network.run()
  const words = (contract: string) =>
    expect.stringContaining(
      `abandoned: contract ${contract} holds 10 readings in 1 batch from 3 on that no later contract has`,
    )
  expect([rewritten.code, rewritten.printed]).toEqual([1, [words(old), words(begun.contract)]])
  const newest = rewritten.report.contract
  expect(await network.run({ theft: newest })).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not one'),
  })
})

test('a contract that began elsewhere, or goes on from no batch of ours, is found', async () => {
  await using network = await second()
  await network.seal(some(201, 210))
  await network.finalize()
  const [former] = [(await network.run({ rows: 'none' })).report.contract as Hex]
  const good = recordOf(network.headers.get(2)!, keccak)
  const key = deploymentKeyOf(3)
  const wrong = [
    [
      { former, from: { ...good, n: good.n.with(3, 205) } },
      'goes on from a batch 2 that is not the one',
    ],
    [
      { former, from: { ...good, index: 7 } },
      `goes on from batch 7, which contract ${former} has never anchored`,
    ],
    [{ former: `0x${'ab'.repeat(20)}`, from: good }, "which is not in the operator's record"],
    [
      { former: noContract, from: { ...noRecord, last: 5 } },
      'begins before the first batch, with numbers or a log',
    ],
  ] as const
  for (const [beginning, words] of wrong) {
    await network.deploy(beginning)
    await network.finalize()
    const { code, printed } = await network.run({ rows: 'none' })
    // what it leaves behind is waiting to be anchored again
    const others = printed.slice(1).filter((one) => !one.startsWith('waiting: '))
    expect([code, printed[0], others]).toEqual([1, expect.stringContaining(words), []])
    expect(printed[0]).toMatch(/^beginning: /)
    await network.forget()
  }
  // the record says other than the contract does
  const right = await network.deploy({ former, from: good })
  await network.finalize()
  await network.anchoring.put(
    key,
    JSON.stringify({ ...right, from: { ...good, last: good.last + 1 } }),
  )
  expect((await network.run({ rows: 'none' })).printed).toEqual([
    expect.stringContaining("did not begin as the operator's record has it"),
  ])
  await network.anchoring.put(key, JSON.stringify({ ...right, block: right.block + 1 }))
  expect((await network.run({ rows: 'none' })).printed).toEqual([
    expect.stringContaining('does not say how it began'),
  ])
  const nowhere = `0x${'cd'.repeat(20)}`
  await network.anchoring.put(key, JSON.stringify({ ...right, contract: nowhere }))
  const { report, printed } = await network.run()
  expect([report.rows, printed]).toEqual([
    null,
    [
      `contract: the code at ${nowhere} on chain 31337 is not that of our contract in version 2, so its events prove nothing`,
    ],
  ])
})

test('before a new contract is final the audit says so, and to try again', async () => {
  await using network = await second()
  const old = await network.run({ rows: 'none' })
  const { contract, block } = await network.goOn(1)
  const { code, err } = await network.run()
  expect([old.code, code]).toEqual([0, 75])
  expect(err).toContain(
    `the data go on after batch 1 in the new contract ${contract}, which is not final yet, and neither is its first batch: wait until block ${block} is final, and audit again then`,
  )
})

test('what the retention of the store has dropped is distinguished from what is missing', async () => {
  await using network = await second({}, some(1, 20))
  await network.seal(some(21, 40))
  await network.finalize()
  const story = await readStory(network.ask, await readDeployments(network.anchoring))
  const auditOf = (keptFromMs: number | undefined, rows: readonly Reading[]) =>
    audit({
      story,
      headerOf: (index) => network.headers.get(index),
      blobs: network.blobs,
      isBlock: isBlockOf(network.ask),
      keccak,
      from: 1,
      rows: {
        from: 'a test',
        isAll: true,
        ...(keptFromMs !== undefined && { keptFromMs }),
        read: async function* () {
          yield rows
        },
      },
      unanchored: { log: async function* () {}, headers: async () => [] },
      graceMs: 60_000,
      anchorSinceMs: undefined,
      isPinned: false,
      thefts: new Set(),
    })
  const young = some(21, 40)
  const missing = await auditOf(undefined, young)
  expect(missing.findings).toMatchObject([{ kind: 'missing', batch: 1 }])
  const expired = await auditOf(readingOf(21).timeMs, young)
  expect(expired).toMatchObject({ ok: true, rows: { expired: 20, perhaps_expired: 0 } })
  expect(auditLines(expired).join('\n')).toContain(
    'No anchored reading that the store must still have',
  )
  // half of batch 1 is too young for that: of its missing ones nothing can be said
  const half = await auditOf(readingOf(11).timeMs, [...some(12, 20), ...young])
  expect(half).toMatchObject({ ok: true, rows: { expired: 0, perhaps_expired: 11 } })
  expect(auditLines(half).join('\n')).toContain('expired or removed, which cannot be said')
  const gone = await auditOf(readingOf(21).timeMs, young.slice(1))
  expect(gone.findings).toMatchObject([{ kind: 'missing', batch: 2 }])
})

test('a row outside of the times that its batch claims is found', async () => {
  const early = { timeMinMs: 1, timeMaxMs: 1 }
  const rows = some(1, 3)
  await using network = await second({ header: (header) => ({ ...header, ...early }) }, rows)
  const { code, printed } = await network.run()
  expect([code, printed.toSorted()]).toEqual([
    1,
    rows
      .map(
        ({ sensor, timeMs }) =>
          `claims: ${sensor} ${formatIso(timeMs)}: it is not within the times that batch 1 claims`,
      )
      .toSorted(),
  ])
  const late = { timeMaxMs: nowMs }
  await using other = await second({ header: (header) => ({ ...header, ...late }) }, rows)
  expect((await other.run()).code).toBe(0)
})

test('a registry that was rewritten afterwards differs from the anchored areas, and flags from the rules', async () => {
  const wrong = readingOf(2, { more: { flags: maskOf('pm_high') } })
  await using network = await second({}, [readingOf(1), wrong, readingOf(3)])
  const sensors = await new Kvm(network.nc).open(buckets.sensors)
  const put = (area: string) =>
    sensors.put(
      readingOf(1).sensor,
      JSON.stringify({
        id: readingOf(1).sensor,
        cadence_seconds: 60,
        sites: [siteOf(area)],
        created_at: '2020-01-01T00:00:00Z',
      }),
    )
  const deep = async () => {
    const { report, printed } = await network.run({ deep: true })
    expect(report.covers).toMatchObject({ not_checked: [] })
    return printed.filter((words) => !words.startsWith('statistics'))
  }
  await put('Ikeja')
  const rules = `rules: 1 rows of ${wrong.sensor}: flags pm_high, where its values give none`
  expect(await deep()).toEqual([expect.stringContaining(rules)])
  await put('Lekki')
  expect(await deep()).toEqual([
    expect.stringMatching(
      /^area: 1 rows of \S+: area Ikeja, and the registry says Lekki, which was changed after the area was anchored;/,
    ),
    expect.stringContaining(rules),
  ])
})

test('rows as /v1 gives them hash into batches of version 2, with area and flags', async () => {
  await using api = await testApi()
  await using network = await auditedNetwork(api)
  await network.deploy({ former: noContract, from: noRecord })
  const sensor = 'NGR-LOS-IKJ-001'
  await api.register({ id: sensor })
  const reported = (fromMs: number) =>
    Array.from({ length: 20 }, (_, i) => ({
      sensor,
      timeMs: fromMs + i * 1_000,
      pm25: 60_000,
      pm10: 1_000,
      flags: maskOf('pm_high') | maskOf('pm25_over_pm10'),
      leafVersion: 2 as const,
      ...(i % 2 === 0 && { device: `0x${'ab'.repeat(32)}` as const }),
    }))
  await network.seal(await api.commit(reported(nowMs - 3_600_000)))
  await network.finalize()
  const flags = { api: api.url, sample: '60' }
  const key = { AIRPROOF_API_KEY: api.key }
  const { code, report, printed } = await network.run(flags, key)
  expect([code, printed]).toEqual([0, []])
  expect(report.rows).toMatchObject({ all: false, not_anchored: 0 })
  expect(report.rows?.fit).toBeGreaterThan(0)
  const [first, ...others] = await api.commit(reported(nowMs - 1_800_000))
  await network.seal([{ ...first!, flags: 0 }, ...others])
  await network.finalize()
  // of 20 drawings half are of the second batch
  const altered = await network.run({ ...flags, sample: '400' }, key)
  expect(altered.code).toBe(1)
  expect(new Set(altered.printed)).toEqual(
    new Set([expect.stringContaining('it is not what was anchored in batch 2')]),
  )
})
