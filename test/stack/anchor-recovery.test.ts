/**
 * Another contract that goes on from the one before: after an upgrade, and after a stolen key. The whole
 * drill, with batches that are sealed again, is in `anchor-recovery-drill.test.ts`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PrivateKeyAccount,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeAnchorCall, refusalOf, registryAt } from '../../anchor/contract/registry.ts'
import { ensureContract } from '../../anchor/deploy/ensure-contract.ts'
import { openJournal } from '../../anchor/send/journal.ts'
import { command } from '../../cli/anchor/anchor.ts'
import {
  type BatchEnd,
  beforeFirst,
  endOf,
  endOfRecord,
  nextHeader,
} from '../../core/proof/batch.ts'
import {
  beginningOf,
  type ChainRecord,
  noContract,
  noRecord,
  recordHead,
} from '../../core/proof/chain-record.ts'
import { type BatchHeader, headerHash, recordOf } from '../../core/proof/header.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { levelText } from '../../runtime/nats/format-level.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { borderKey, headerKey, sealedEntry } from '../../schemas/anchoring/batch-record.ts'
import {
  type AnyDeployment,
  type Deployment2,
  deploymentOfBatch,
} from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'
import { alivePrefixes, systemKeys } from '../../schemas/system-keys.ts'
import { type TestAnvil, testAnvil } from '../support/anvil.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const keccak = await createKeccak()
const chainId = 99
let anvil: TestAnvil
beforeAll(async () => {
  anvil = await testAnvil({ chainId })
})
afterAll(() => anvil[Symbol.asyncDispose]())

const client = () => createPublicClient({ transport: http(anvil.url), cacheTime: 0 })
const hash = (text: string): Hex =>
  `0x${Buffer.from(keccak(new TextEncoder().encode(text))).toString('hex')}`

/** Mined before it returns; a revert is in the receipt. */
async function send(account: PrivateKeyAccount, to: Hex, data: Hex) {
  const chain = { ...foundry, id: chainId }
  const wallet = createWalletClient({ account, chain, transport: http(anvil.url) })
  const txHash = await wallet.sendTransaction({ to, data, gas: 200_000n })
  return eventually(`${txHash} is mined`, () =>
    client()
      .getTransactionReceipt({ hash: txHash })
      .catch(() => undefined),
  )
}

/** An instance without readings, with a contract's keys in files; batches are sealed by the test. */
async function instance() {
  await using opened = new AsyncDisposableStack()
  const nats = opened.use(await testNats())
  const folder = opened.use(temporaryFolder())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc, { newest: 2 })
  const newKey = async (name: string) => {
    const key = generatePrivateKey()
    const file = join(folder.path, name)
    writeFileSync(file, key, { mode: 0o600 })
    const account = privateKeyToAccount(key)
    await anvil.rpc('anvil_setBalance', [account.address, `0x${(10n ** 18n).toString(16)}`])
    return { file, account }
  }
  const keys = {
    writer: await newKey('anchor.key'),
    other: await newKey('other.key'),
    owner: await newKey('owner.key'),
  }
  type Flags = Readonly<Record<string, string | boolean>>
  const envOf = ({ key = 'writer' }: { readonly key?: 'writer' | 'other' } = {}) => ({
    AIRPROOF_DATA: folder.path,
    NATS_URL: nats.url,
    CHAIN_RPC_URL: anvil.url,
    ANCHOR_KEY_FILE: keys[key].file,
  })
  const kvm = new Kvm(nc)
  const closing = opened.move()
  return {
    nc,
    keys,
    kv: () => kvm.open(buckets.anchoring),
    leases: () => kvm.open(buckets.leases),
    run: (verb: string, flags: Flags = {}) =>
      runCommand(command, { words: [verb], flags, env: envOf() }),
    /** At format level 3, to which it raises the instance. */
    deploy: async (flags: Flags = {}, key: 'writer' | 'other' = 'writer') => {
      await (await kvm.open(buckets.system)).put(systemKeys.format, levelText(3))
      return await runCommand(command, {
        words: ['deploy'],
        flags: { owner: keys.owner.account.address, json: true, ...flags },
        env: envOf({ key }),
      })
    },
    seal: async (header: BatchHeader): Promise<void> => {
      const { head } = endOf(header, keccak)
      const sealed = sealedEntry({ header, headerHash: headerHash(header, keccak), head })
      await (await kvm.open(buckets.batches)).put(headerKey(header.index), JSON.stringify(sealed))
    },
    /** As the sealer does at the border of the leaves. */
    reachBorder: async (index: number): Promise<void> =>
      void (await (await kvm.open(buckets.batches)).put(borderKey, JSON.stringify({ index }))),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Blocks until what is mined is final. */
const finalize = () => anvil.rpc('anvil_mine', ['0x4'])

const batchAfter = (end: BatchEnd, partition = 0): BatchHeader =>
  nextHeader(end, {
    last: end.last + 2,
    sealedMs: 1,
    readings: {
      root: hash(`root ${end.index + 1}`),
      timeMinMs: 1,
      timeMaxMs: 2,
      counts: Array.from({ length: 16 }, (_, p) => (p === partition ? 5 : 0)),
    },
  })
const call2 = (prev: ChainRecord, header: BatchHeader): Hex =>
  encodeAnchorCall({ ...header, headerHash: headerHash(header, keccak), prev })
const startOf = ({ contract, former, from }: Deployment2): ChainRecord =>
  beginningOf({ chainId, contract, former, from }, keccak)
const isSecond = (deployment: AnyDeployment | undefined): deployment is Deployment2 =>
  deployment !== undefined && 'from' in deployment

test('a contract of version 1 is followed by one of version 2, when all its batches are final', async () => {
  await using city = await instance()
  const { account } = city.keys.writer
  const first = await city.run('deploy', { owner: city.keys.owner.account.address, json: true })
  expect(first.err).toBe('')
  const { contract: old } = JSON.parse(first.out)
  let end = beforeFirst(chainId, old, keccak)
  const headers: BatchHeader[] = []
  for (const partition of [0, 3, 15]) {
    const header = batchAfter(end, partition)
    headers.push(header)
    await city.seal(header)
    end = endOf(header, keccak)
  }
  const anchor = (header: BatchHeader) =>
    send(account, old, encodeAnchorCall({ ...header, headerHash: headerHash(header, keccak) }))
  for (const [sent, words] of [
    [undefined, 'batches 1 to 3 are sealed and not final yet'],
    [headers[0], 'batches 2 to 3 are sealed and not final yet'],
    [headers[1], 'batches 3 to 3 are sealed and not final yet'],
  ] as const) {
    if (sent !== undefined) await anchor(sent)
    await finalize()
    expect(await city.deploy()).toMatchObject({ code: 1, err: expect.stringContaining(words) })
  }
  await anchor(headers[2]!)
  const nonce = await anvil.rpc('eth_getTransactionCount', [account.address, 'latest'])
  // mined, and not final
  expect((await city.deploy()).err).toContain('sealed and not final yet')
  await finalize()
  for (const index of [undefined, 2]) {
    if (index !== undefined) await city.reachBorder(index)
    expect((await city.deploy()).err).toContain('until it raises alarm CONTRACT')
  }
  await city.reachBorder(3)
  const alive = `${alivePrefixes.anchor}x`
  await (await city.leases()).put(alive, 'now')
  expect((await city.deploy()).err).toContain('stop `airproof anchor`')
  await (await city.leases()).delete(alive)
  expect(await city.deploy({ owner: account.address })).toMatchObject({
    code: 2,
    err: expect.stringContaining('could never be shut out'),
  })
  // nothing was sent by all these
  expect(await anvil.rpc('eth_getTransactionCount', [account.address, 'latest'])).toBe(nonce)

  const journal = openJournal(await city.kv(), keccak)
  await journal.putPair(account.address, { index0: 1, nonce0: 1 }, 0)
  const { code, out, err } = await city.deploy()
  expect([code, err]).toEqual([
    0,
    [
      `batch 3 in ${old} is the last one that counts: the new contract goes on after it`,
      `nothing should be anchored in ${old} any more: its owner shuts it with \`airproof anchor writer --anchor-contract ${old} --set none\` (docs/chain.md)`,
    ].join('\n'),
  ])
  const from = recordOf(headers[2]!, keccak)
  const [v1, v2, ...none] = await readDeployments(await city.kv())
  expect(none).toEqual([])
  expect(v1).toEqual(JSON.parse(first.out))
  expect(v2).toEqual(JSON.parse(out))
  if (!isSecond(v2)) throw new Error('it is not of version 2')
  expect(v2).toMatchObject({ version: 2, chainId, former: old, from })
  expect((await journal.pair(account.address)).value).toBeUndefined()
  const registry = registryAt(client(), v2.contract, 2)
  const start = startOf(v2)
  expect(await registry.head()).toBe(recordHead(start, keccak))
  const span = { fromBlock: v2.block, toBlock: Number(await client().getBlockNumber()) }
  expect(await registry.began(span)).toMatchObject({ from })

  const next = batchAfter(endOfRecord(start, keccak))
  expect(next).toMatchObject({ version: 2, index: 4, first: headers[2]!.last + 1 })
  const stale = { ...next, nLast: headers[0]!.nLast }
  const back = client().call({
    account: account.address,
    to: v2.contract,
    data: call2(start, stale),
  })
  expect(await back.then(() => 'accepted', refusalOf)).toMatchObject({
    errorName: 'NumberGoesBack',
    args: [3n, 5n, 0n],
  })
  expect((await send(account, v2.contract, call2(start, next))).status).toBe('success')
  expect(await registry.head()).toBe(endOf(next, keccak).head)

  expect((await city.deploy()).err).toContain('name the last one that is with --from-batch')
  const all = [v1!, v2]
  expect([1, 3, 4, 5].map((index) => deploymentOfBatch(all, index))).toEqual([v1, v1, v2, v2])
})

test('where the thief was first, a new contract begins at the first batch again', async () => {
  await using city = await instance()
  const { writer } = city.keys
  expect((await city.deploy()).code).toBe(0)
  const [stolen] = await readDeployments(await city.kv())
  if (!isSecond(stolen)) throw new Error('it is not of version 2')
  const start = startOf(stolen)
  const ours = batchAfter(endOfRecord(start, keccak))
  await city.seal(ours)
  const junk = { ...ours, root: hash('junk') }
  const sent = await send(writer.account, stolen.contract, call2(start, junk))
  expect(sent.status).toBe('success')
  await finalize()
  expect((await city.deploy({ 'from-batch': '0' }, 'other')).code).toBe(0)
  const deployments = await readDeployments(await city.kv())
  expect(deployments[1]).toMatchObject({ former: noContract, from: noRecord })
  expect(deploymentOfBatch(deployments, 1)).toEqual(deployments[1])
})

test('no contract of version 2 begins before batches of version 1', async () => {
  await using city = await instance()
  const { owner, writer } = city.keys
  const { out } = await city.run('deploy', { owner: owner.account.address, json: true })
  const { contract } = JSON.parse(out)
  let end = beforeFirst(chainId, contract, keccak)
  for (const partition of [0, 3]) {
    const header = batchAfter(end, partition)
    await city.seal(header)
    const data = encodeAnchorCall({ ...header, headerHash: headerHash(header, keccak) })
    expect((await send(writer.account, contract, data)).status).toBe('success')
    end = endOf(header, keccak)
  }
  const junk = { ...batchAfter(end), root: hash('junk') }
  const data = encodeAnchorCall({ ...junk, headerHash: headerHash(junk, keccak) })
  expect((await send(writer.account, contract, data)).status).toBe('success')
  await finalize()
  const refused = async (batch: string, words: string): Promise<void> => {
    expect(await city.deploy({ 'from-batch': batch }, 'other')).toMatchObject({
      code: 1,
      err: expect.stringContaining(words),
    })
  }
  expect(await city.deploy({}, 'other')).toMatchObject({
    code: 1,
    err: expect.stringContaining(`holds head ${endOf(junk, keccak).head}, which no batch of ours`),
  })
  await refused('1', 'batches 2 to 2 hold readings of before format level 3')
  // what is in the log before the border must be in a batch first
  await refused('2', 'does not have all readings of before format level 3')
  await city.reachBorder(2)
  await refused('1', 'batches 2 to 2 hold readings of before format level 3')
  expect((await city.deploy({ 'from-batch': '2' }, 'other')).code).toBe(0)
  expect(await readDeployments(await city.kv())).toMatchObject([
    { contract },
    { version: 2, former: contract, from: { index: 2 } },
  ])
})

test('below format level 3 there is one contract, and no other goes on from it', async () => {
  await using city = await instance()
  const owner = city.keys.owner.account.address
  expect(await city.run('deploy', { owner, 'from-batch': '1' })).toMatchObject({
    code: 2,
    err: expect.stringContaining('format level 3'),
  })
  expect((await city.run('deploy', { owner })).code).toBe(0)
  const { contract } = (await readDeployments(await city.kv()))[0]!
  expect(await city.run('deploy', { owner })).toMatchObject({
    code: 1,
    err: expect.stringContaining(`anchored in ${contract}`),
  })
})

test('after a theft the owner shuts the writer out, and a new contract goes on after the last good batch', async () => {
  await using city = await instance()
  const { writer, other, owner } = city.keys
  expect((await city.deploy()).code).toBe(0)
  const [stolen] = await readDeployments(await city.kv())
  if (!isSecond(stolen)) throw new Error('it is not of version 2')
  expect(stolen).toMatchObject({ former: noContract, from: noRecord })
  let prev = startOf(stolen)
  const headers: BatchHeader[] = []
  for (const partition of [0, 3, 15]) {
    const header = batchAfter(endOfRecord(prev, keccak), partition)
    await city.seal(header)
    expect((await send(writer.account, stolen.contract, call2(prev, header))).status).toBe(
      'success',
    )
    prev = recordOf(header, keccak)
    headers.push(header)
  }
  // the thief has the writer's key, and anchors readings that never were; we sealed another batch 4
  const junk = { ...batchAfter(endOfRecord(prev, keccak), 7), root: hash('junk') }
  await send(writer.account, stolen.contract, call2(prev, junk))
  const ours = batchAfter(endOfRecord(prev, keccak), 9)
  await city.seal(ours)
  await finalize()

  // the owner names no writer: shown first, signed elsewhere or with the key in a file
  const shown = await city.run('writer', { json: true })
  expect(JSON.parse(shown.out)).toEqual({
    contract: stolen.contract,
    chainId,
    owner: owner.account.address,
    writer: writer.account.address,
    key: writer.account.address,
  })
  const unsigned = await city.run('writer', { set: 'none', json: true })
  expect(unsigned.err).toContain(`none instead of ${writer.account.address}`)
  expect(JSON.parse(unsigned.out)).toMatchObject({
    from: owner.account.address,
    to: stolen.contract,
    data: expect.stringMatching(/^0x/),
  })
  const keyFile = (file: string) => ({ 'anchor-owner-key-file': file })
  expect(await city.run('writer', { set: 'none', ...keyFile(other.file) })).toMatchObject({
    code: 1,
    err: expect.stringContaining(`the owner of the contract is ${owner.account.address}`),
  })
  expect(
    await city.run('writer', { set: owner.account.address, ...keyFile(owner.file) }),
  ).toMatchObject({ code: 2, err: expect.stringContaining('must be another account') })
  expect(await city.run('writer', { set: '0x12' })).toMatchObject({ code: 2 })
  const old = registryAt(client(), stolen.contract, 2)
  expect(await old.writer()).toBe(writer.account.address)
  const none = await city.run('writer', { set: 'none', ...keyFile(owner.file) })
  expect([none.code, none.err]).toEqual([
    0,
    expect.stringContaining(`The owner ${owner.account.address} signs and pays`),
  ])
  expect(await old.writer()).toBe(noContract)
  const more = call2(recordOf(junk, keccak), batchAfter(endOf(junk, keccak)))
  expect((await send(writer.account, stolen.contract, more)).status).toBe('reverted')

  // nothing goes on from what is not ours, is not there, or was not named
  for (const [flags, words] of [
    [{}, 'name the last one that is with --from-batch'],
    [{ 'from-batch': '5' }, 'there is no batch 5'],
    [{ 'from-batch': '4' }, 'as we sealed it'],
  ] as const)
    expect(await city.deploy(flags, 'other')).toMatchObject({
      code: 1,
      err: expect.stringContaining(words),
    })

  const journal = openJournal(await city.kv(), keccak)
  await journal.putPair(other.account.address, { index0: 1, nonce0: 7 }, 0)
  await journal.putFinal(4, 0)
  await journal.putStopped({ reason: 'REVERTED', words: 'x', index: 4, sinceMs: 1 }, 0)
  const { code, err } = await city.deploy({ 'from-batch': '3' }, 'other')
  expect([code, err]).toEqual([
    0,
    [
      `batch 3 in ${stolen.contract} is the last one that counts: the new contract goes on after it`,
      'batches 4 to 4 do not count there: they are anchored again',
    ].join('\n'),
  ])
  expect([
    (await journal.pair(other.account.address)).value,
    (await journal.final()).value,
    (await journal.stopped()).value,
  ]).toEqual([undefined, 3, undefined])
  const deployments = await readDeployments(await city.kv())
  const renewed = deployments[1]
  if (!isSecond(renewed)) throw new Error('there is no second one')
  expect(renewed).toMatchObject({
    former: stolen.contract,
    from: recordOf(headers[2]!, keccak),
  })
  expect((await (await city.kv()).get('deployment.3'))?.json()).toEqual(renewed)

  // our batch 4 goes on there, and the old contract still says what it said of 1 to 3
  const start = startOf(renewed)
  const fourth = batchAfter(endOfRecord(start, keccak), 9)
  expect((await send(other.account, renewed.contract, call2(start, fourth))).status).toBe('success')
  const registry = registryAt(client(), renewed.contract, 2)
  expect(await registry.head()).toBe(endOf(fourth, keccak).head)
  const toBlock = Number(await client().getBlockNumber())
  const events = await old.anchored({ fromBlock: stolen.block, toBlock })
  expect(events.slice(0, 3)).toMatchObject(headers.map((header) => ({ ...endHeadOf(header) })))
  expect([3, 4].map((index) => deploymentOfBatch(deployments, index))).toEqual([stolen, renewed])
})

const endHeadOf = (header: BatchHeader) => ({
  index: header.index,
  head: endOf(header, keccak).head,
  n: header.nLast,
})

test('on the demonstration chain the same contracts are made again on a chain that was lost', async () => {
  await using demonstration = await testAnvil()
  await using nats = await testNats()
  const nc = await nats.connect()
  const account = privateKeyToAccount(generatePrivateKey())
  const stop = new AbortController().signal
  const from: ChainRecord = { ...noRecord, index: 7, root: hash('root 7'), last: 9 }
  const v1 = ensureContract({ url: demonstration.url, account, stop })
  const second = { k: 2, beginning: { former: v1.contract, from } }
  const v2 = ensureContract({ url: demonstration.url, account, stop, second })
  const third = { k: 3, beginning: { former: v2.contract, from } }
  const v3 = ensureContract({ url: demonstration.url, account, stop, second: third })
  expect(new Set([v1.contract, v2.contract, v3.contract]).size).toBe(3)
  const heads = async () => {
    const made = [await v1.ensure(), await v2.ensure(), await v3.ensure()]
    const at = createPublicClient({ transport: http(demonstration.url), cacheTime: 0 })
    const registries = [v1, v2, v3].map(({ contract }) => registryAt(at, contract))
    return { made, heads: await Promise.all(registries.map((registry) => registry.head())) }
  }
  const before = await heads()
  expect(before.made).toEqual([true, true, true])
  expect((await heads()).made).toEqual([false, false, false])
  const kv = await new Kvm(nc).create(buckets.anchoring)
  for (const one of [v1, v2, v3]) expect(await one.remember(nc)).toBe(one.contract)
  expect(await readDeployments(kv)).toMatchObject([
    { contract: v1.contract },
    { version: 2, contract: v2.contract, ...second.beginning },
    { version: 2, contract: v3.contract, ...third.beginning },
  ])
  const nonce = await demonstration.rpc('eth_getTransactionCount', [account.address, 'latest'])
  expect(nonce).toBe('0x1')
  await demonstration.restart()
  expect(await heads()).toEqual(before)
  await nc.close()
})
