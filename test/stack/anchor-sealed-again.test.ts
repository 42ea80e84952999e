/** Batches sealed again for another contract, whoever dies and however often. Only NATS is real: no chain is asked. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ContractChanged } from '../../anchor/contract-changed.ts'
import {
  type FencedBucket,
  fencedBucket,
  Overtaken,
  openFence,
  putRead,
} from '../../anchor/fence.ts'
import { writeBlob } from '../../anchor/seal/write-blob.ts'
import { type SealAgainOptions, sealAgain } from '../../anchor/seal-again.ts'
import { openSealedBatches } from '../../anchor/sealed-batches.ts'
import { openJournal } from '../../anchor/send/journal.ts'
import { seqOf } from '../../core/air/reading.ts'
import type { Hex } from '../../core/hex.ts'
import { type BatchEnd, endOf, nextHeader } from '../../core/proof/batch.ts'
import { chainFault } from '../../core/proof/batch-faults.ts'
import { noContract, noRecord } from '../../core/proof/chain-record.ts'
import { type BatchHeader, encodeHeader, recordOf } from '../../core/proof/header.ts'
import { readSealed } from '../../operate/exports/sealed-headers.ts'
import { type BatchIndex, createBatchIndex } from '../../operate/proofs/batch-index.ts'
import { onBroken } from '../../runtime/broken.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import {
  type Anchored,
  anchoredKey,
  checkedKey,
  headerKey,
  type SealedBatch,
  sealedEntry,
  sealedOf,
} from '../../schemas/anchoring/batch-record.ts'
import { type Deployment2, deploymentKeyOf, startOf } from '../../schemas/anchoring/deployments.ts'
import { blobTopSubject, buckets } from '../../schemas/subjects.ts'
import { type TestNats, testNats } from '../support/nats.ts'

const keccak = await createKeccak()
const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`
const raw: Hex = '0x02'
/** The last batch that counts, the last final one, the last sealed one. */
const [good, final, last] = [2, 4, 6]

let nats: TestNats
let nc: NatsConnection
beforeAll(async () => {
  nats = await testNats()
  nc = await nats.connect()
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
})

const contractOf = (n: number, more: Pick<Deployment2, 'former' | 'from'>): Deployment2 => ({
  version: 2,
  chainId: 99,
  genesisHash: hash(1),
  contract: address(n),
  block: n,
  ...more,
})
const former = contractOf(1, { former: noContract, from: noRecord })

const headerAfter = (end: BatchEnd): BatchHeader =>
  nextHeader(end, {
    last: end.last + 1,
    sealedMs: end.index,
    readings: {
      root: hash(100 + end.index),
      timeMinMs: 1,
      timeMaxMs: 2,
      counts: Array.from({ length: 16 }, (_, p) => (p === 0 ? 2 : 0)),
    },
  })

function batchesOf(deployment: Deployment2, count: number): SealedBatch[] {
  let end = startOf(deployment, keccak)
  return Array.from({ length: count }, () => {
    const header = headerAfter(end)
    end = endOf(header, keccak)
    return sealedOf(header, keccak, deployment.contract)
  })
}
const old = batchesOf(former, last)
const renewed = contractOf(2, {
  former: former.contract,
  from: recordOf(old[good - 1]!.header, keccak),
})

const anchoredAt = (index: number, block: number): Anchored => ({
  index,
  status: 'final',
  tx: hash(index),
  block,
  blockHash: hash(block),
  blockTimeS: block,
  finalized: { number: block, hash: hash(block) },
  checkedMs: 1,
})
const signed = (index: number) => ({
  state: 'sent' as const,
  index,
  nonce: index,
  versions: [{ hash: hashOfRaw, raw, maxFeePerGas: '1', maxPriorityFeePerGas: '1', signedMs: 1 }],
})
const hashOfRaw: Hex = `0x${Buffer.from(keccak(Buffer.from('02', 'hex'))).toString('hex')}`

/** As it is when the new contract is deployed and the deployment died before it put the journal right. */
async function recovered() {
  await using opened = new AsyncDisposableStack()
  await ensureStreams(nc)
  const kvm = new Kvm(nc)
  const deployments = [former, renewed]
  const fence = openFence(await kvm.open(buckets.anchoring), deployments)
  const fenced = async (bucket: string) =>
    fencedBucket({ js: jetstream(nc), kv: await kvm.open(bucket), fence })
  const records = await fenced(buckets.batches)
  const kv = await fenced(buckets.anchoring)
  const proofs = await fenced(buckets.proofs)
  const journal = openJournal(kv, keccak)
  const manager = await jetstreamManager(nc)
  for (const name of [buckets.batches, buckets.anchoring, buckets.proofs])
    await manager.streams.purge(`KV_${name}`)
  for (const sealed of old) {
    const { index } = sealed.header
    await records.put(headerKey(index), JSON.stringify(sealedEntry(sealed)))
    if (index <= final) await records.put(anchoredKey(index), JSON.stringify(anchoredAt(index, 9)))
    else await journal.putEntry(signed(index), 0)
  }
  const { head } = old[final - 1]!
  const checked = { index: final, head, number: 9, hash: hash(9), checkedMs: 5 }
  await records.put(checkedKey, JSON.stringify(checked))
  const kept = await journal.final()
  await journal.putFinal(final, kept.revision)
  const batches = opened.use(await openSealedBatches(nc, [startOf(former, keccak)]))
  const closing = opened.move()
  const options: SealAgainOptions = {
    keccak,
    batches,
    records,
    journal: kv,
    proofs,
    deployments,
    start: startOf(renewed, keccak),
  }
  return { options, journal, batches, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

type Recovered = Awaited<ReturnType<typeof recovered>>

/** In which the work on the new contract begins, whatever happened before. */
const sealedAgain = (() => {
  let end: BatchEnd = startOf(renewed, keccak)
  const after = old.slice(good).map(({ header }) => {
    const sealed = sealedOf({ ...header, prevHead: end.head }, keccak, renewed.contract)
    end = endOf(sealed.header, keccak)
    return sealed
  })
  return {
    sealed: [...old.slice(0, good), ...after],
    anchored: old.map((_, at) => (at < good ? 'final' : undefined)),
    transactions: old.map(() => undefined),
    final: good,
    checked: { index: good, head: old[good - 1]!.head, number: 9, hash: hash(9), checkedMs: 5 },
  }
})()

async function stateOf({ options, journal, batches }: Recovered): Promise<typeof sealedAgain> {
  await batches.barrier()
  const all = old.map(({ header }) => header.index)
  const entries = await Promise.all(all.map(journal.entry))
  const checked = await options.records.get(checkedKey)
  return {
    sealed: all.map((index) => batches.get(index)!),
    anchored: all.map(
      (index) => batches.anchored(index)?.status,
    ) as (typeof sealedAgain)['anchored'],
    transactions: entries.map(({ value }) => value as undefined),
    final: (await journal.final()).value!,
    checked: checked!.json(),
  }
}

type Fault = (write: number) => void | Promise<void>

/** Both buckets, with something that happens before each write. */
function between({ records, journal, proofs }: SealAgainOptions, fault: Fault) {
  let writes = 0
  const wrapped = (kv: FencedBucket): FencedBucket =>
    new Proxy(kv, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const act = value.bind(target) as (...printed: unknown[]) => unknown
        if (name === 'get') return act
        return async (...printed: unknown[]) => {
          await fault(writes++)
          return await act(...printed)
        }
      },
    })
  return { records: wrapped(records), journal: wrapped(journal), proofs: wrapped(proofs) }
}

/**
 * The last final one, what was checked, of each batch its transaction, anchor, proof and header, and the
 * header after the last one.
 */
const writesOfAll = 3 + 4 * (last - good)

class Crash extends Error {}

/** What an API has of the batches, from the records as they are. */
async function indexNow(): Promise<BatchIndex> {
  const index = createBatchIndex(keccak)
  const { sealed, anchored } = await readSealed(nc)
  index.putDeployments([former, renewed])
  for (const [number, batch] of sealed) index.putSealed(number, batch)
  for (const [number, record] of anchored) index.putAnchored(number, record)
  const checked = await (await new Kvm(nc).open(buckets.batches)).get(checkedKey)
  index.putChecked(checked?.json())
  expect(index.faults()).toBe(0)
  return index
}

/** Of each batch, in order. */
const statesOf = (index: BatchIndex): string[] =>
  Array.from({ length: last }, (_, at) => index.standingOf(seqOf(0, 2 * at + 1), 6).status)

test('killed before any of its writes, another process ends it, and nothing false is proven meanwhile', async () => {
  let crashes = 0
  for (let isDone = false; !isDone; ) {
    await using city = await recovered()
    const dying = between(city.options, (write) => {
      if (write === crashes) throw new Crash()
    })
    isDone = await sealAgain({ ...city.options, ...dying }).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof Crash)) throw error
        return false
      },
    )
    const index = await indexNow()
    const [first, ...others] = statesOf(index)
    // the batches that count are anchored again as soon as what was checked says nothing of the others
    expect(first).toBe(crashes < 2 ? 'anchoring' : 'anchored')
    expect(others.slice(good - 1)).toEqual(Array.from({ length: last - good }, () => 'anchoring'))
    // no bundle is made of a batch that was final in the former contract
    for (let at = good + 1; at <= last; at++) expect(index.anchored(at)).toBeUndefined()
    await sealAgain(city.options)
    expect(await stateOf(city)).toEqual(sealedAgain)
    expect(await sealAgain(city.options)).toBe(0)
    if (!isDone) crashes++
  }
  let end: BatchEnd = startOf(renewed, keccak)
  for (const { header } of sealedAgain.sealed.slice(good)) {
    expect(chainFault(end, header)).toBeUndefined()
    end = endOf(header, keccak)
  }
  expect(crashes).toBe(writesOfAll)
})

test('two processes at once write the same', async () => {
  for (let write = 0; write < writesOfAll; write++) {
    await using city = await recovered()
    const slow = between(city.options, async (now) => {
      if (now === write) await sealAgain(city.options)
    })
    await sealAgain({ ...city.options, ...slow }).catch((error: unknown) => {
      if (!(error instanceof Overtaken)) throw error
    })
    expect(await stateOf(city)).toEqual(sealedAgain)
  }
  await using city = await recovered()
  await Promise.allSettled([sealAgain(city.options), sealAgain(city.options)])
  await sealAgain(city.options)
  expect(await stateOf(city)).toEqual(sealedAgain)
})

test('a process that is slow takes nothing from the sender of the new contract', async () => {
  for (let write = 0; write < writesOfAll; write++) {
    await using city = await recovered()
    const { options, journal } = city
    const anchored = { ...anchoredAt(last, 20), tx: hash(77) }
    const slow = between(options, async (now) => {
      if (now !== write) return
      // meanwhile another one has sealed all again, and anchored all of it
      await sealAgain(options)
      for (let index = good + 1; index <= last; index++) {
        const { revision } = await journal.entry(index)
        await journal.putEntry(signed(index), revision)
        await options.records.put(anchoredKey(index), JSON.stringify({ ...anchored, index }))
      }
      const { revision } = await journal.final()
      await journal.putFinal(last, revision)
      await city.batches.barrier()
      const { head } = city.batches.get(last)!
      const checked = { index: last, head, number: 20, hash: hash(20), checkedMs: 6 }
      await options.records.put(checkedKey, JSON.stringify(checked))
    })
    await sealAgain({ ...options, ...slow }).catch((error: unknown) => {
      if (!(error instanceof Overtaken)) throw error
    })
    expect((await journal.final()).value).toBe(last)
    for (let index = good + 1; index <= last; index++)
      expect((await journal.entry(index)).value).toEqual(signed(index))
    expect(statesOf(await indexNow())).toEqual(Array.from({ length: last }, () => 'anchored'))
  }
})

test('what was sealed for the contract in use is never sealed again, whatever its head', async () => {
  await using city = await recovered()
  await sealAgain(city.options)
  const third = old[2]!
  const altered = { ...third.header, root: hash(7) }
  await city.options.records.put(
    headerKey(3),
    JSON.stringify(sealedEntry(sealedOf(altered, keccak, renewed.contract))),
  )
  expect(await sealAgain(city.options)).toBe(0)
})

test('batches of version 1 stop it with words for a person', async () => {
  await using city = await recovered()
  const { version: _, ...header } = old[3]!.header
  await city.options.records.put(
    headerKey(4),
    JSON.stringify(sealedEntry(sealedOf(header, keccak))),
  )
  await expect(sealAgain(city.options)).rejects.toThrow(
    'batch 4 holds readings of before format level 3',
  )
})

test('a blob that was written for a former contract is the blob of the batch', async () => {
  await using city = await recovered()
  await sealAgain(city.options)
  const met: string[] = []
  const stop = onBroken(({ subject }) => met.push(subject))
  const js = jetstream(nc)
  const write = (header: BatchHeader) =>
    writeBlob(js, header.index, encodeHeader(header, keccak), {
      tiles: () => [Buffer.alloc(32, 1)],
      roots: [Buffer.alloc(32, 1)],
    })
  const { header } = old[4]!
  await write(header)
  await city.batches.barrier()
  await write(city.batches.get(5)!.header)
  expect(met).toEqual([])
  await write({ ...header, sealedMs: header.sealedMs + 1 })
  expect(met).toEqual([blobTopSubject(5)])
  stop()
})

/** What a process of the former contract writes. */
const writesOfFormer: readonly {
  readonly what: string
  readonly write: (process: FormerProcess) => Promise<unknown>
}[] = [
  { what: 'the header of the next batch', write: ({ batches }) => batches.putSealed(next) },
  {
    what: 'an anchor where there was one',
    write: ({ batches }) => batches.putAnchored({ ...anchoredAt(final, 20), tx: hash(77) }),
  },
  {
    what: 'an anchor where there was none',
    write: ({ batches }) => batches.putAnchored(anchoredAt(last, 20)),
  },
  {
    what: 'what was checked',
    write: ({ batches }) => {
      const { head } = old[last - 1]!
      return batches.putChecked({ index: last, head, number: 9, hash: hash(9), checkedMs: 5 })
    },
  },
  {
    what: 'the last final batch',
    write: async ({ journal }) => journal.putFinal(last, (await journal.final()).revision),
  },
  {
    what: 'a transaction where there was one',
    write: async ({ journal }) =>
      journal.putEntry({ ...signed(last), nonce: 5 }, (await journal.entry(last)).revision),
  },
  {
    what: 'a transaction where there was none',
    write: async ({ journal }) =>
      journal.putEntry(signed(final), (await journal.entry(final)).revision),
  },
  { what: 'that it forgets one', write: ({ journal }) => journal.forgetEntries(last, last) },
  { what: 'a proof', write: ({ proofs }) => putRead(proofs, String(last), { of: 'former' }) },
]
const next = sealedOf(headerAfter(endOf(old[last - 1]!.header, keccak)), keccak, former.contract)

/** It knows the former contract alone. @param hang what it waits for before a write arrives */
async function formerProcess(hang: () => Promise<void> = async () => undefined) {
  const kvm = new Kvm(nc)
  const js = jetstream(nc)
  const fence = openFence(await kvm.open(buckets.anchoring), [former])
  const hanging = (kv: KV): KV =>
    new Proxy(kv, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const act = value.bind(target) as (...printed: unknown[]) => unknown
        if (name !== 'put' && name !== 'delete') return act
        return async (...printed: unknown[]) => {
          await hang()
          return await act(...printed)
        }
      },
    })
  const open = async (bucket: string) =>
    fencedBucket({ js, kv: hanging(await kvm.open(bucket)), fence })
  const batches = await openSealedBatches(
    nc,
    [startOf(former, keccak)],
    await open(buckets.batches),
  )
  return {
    batches,
    journal: openJournal(await open(buckets.anchoring), keccak),
    proofs: await open(buckets.proofs),
    [Symbol.asyncDispose]: () => batches[Symbol.asyncDispose](),
  }
}
type FormerProcess = Awaited<ReturnType<typeof formerProcess>>

/** The operator deploys the new contract, as far as other processes see. */
const deployRenewed = async (): Promise<void> =>
  void (await (
    await new Kvm(nc).open(buckets.anchoring)
  ).put(deploymentKeyOf(3), JSON.stringify(renewed)))
/** Nothing of the former contract is there after what is sealed again. */
async function expectNothingElse(city: Recovered): Promise<void> {
  expect(await stateOf(city)).toEqual(sealedAgain)
  const { records, proofs } = city.options
  for (const [bucket, key] of [
    [records, headerKey(last + 1)],
    [proofs, String(last)],
  ] as const)
    expect((await bucket.get(key))?.operation).not.toBe('PUT')
}

test.each(writesOfFormer)(
  'a process that hangs before it writes $what, until the next contract is at work, changes nothing',
  async ({ what, write }) => {
    await using city = await recovered()
    const [hangs, thaws] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using slow = await formerProcess(async () => {
      hangs.resolve()
      await thaws.promise
    })
    const written = write(slow).catch((error: unknown) => error)
    await hangs.promise
    await deployRenewed()
    await sealAgain(city.options)
    thaws.resolve()
    expect(await written).toBeInstanceOf(Overtaken)
    await expectNothingElse(city)
    // from now on it reads what is new, and may not write at that revision either
    const again = await write(slow).catch((error: unknown) => error)
    // what is gone need not be forgotten
    const isGone = what.startsWith('that it forgets')
    expect(again instanceof ContractChanged).toBe(!isGone)
    await expectNothingElse(city)
  },
)

test.each(writesOfFormer)(
  '$what, written before the next contract is at work, is put right',
  async ({ what, write }) => {
    await using city = await recovered()
    await using slow = await formerProcess()
    await write(slow)
    await deployRenewed()
    await sealAgain(city.options)
    if (!what.startsWith('the header')) return await expectNothingElse(city)
    await city.batches.barrier()
    const { header, contract } = city.batches.get(last + 1)!
    expect(contract).toBe(renewed.contract)
    expect(chainFault(endOf(sealedAgain.sealed.at(-1)!.header, keccak), header)).toBeUndefined()
  },
)
