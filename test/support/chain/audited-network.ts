/**
 * Batches that a test seals and anchors itself, in one contract after another, on a real chain. There is
 * no anchor process and no log, so the test can be the operator who lies at any step.
 */
import { dirname, join } from 'node:path'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { createWalletClient, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import type { AuditReport } from '../../../anchor/audit/audit.ts'
import { openRpc } from '../../../anchor/chain/rpc.ts'
import {
  type Beginning,
  encodeAnchorCall,
  encodeDeployment,
} from '../../../anchor/contract/registry.ts'
import { describeContract, keepDeployment } from '../../../anchor/deploy/deployment.ts'
import { writeBlob } from '../../../anchor/seal/write-blob.ts'
import { command } from '../../../cli/audit/audit.ts'
import type { Reading } from '../../../core/air/reading.ts'
import { partitionOfSeq } from '../../../core/air/reading.ts'
import { partitionCount } from '../../../core/air/sensor-id.ts'
import { toHex } from '../../../core/hex.ts'
import { type BatchEnd, endOf, nextHeader } from '../../../core/proof/batch.ts'
import { beginningOf, type ChainRecord } from '../../../core/proof/chain-record.ts'
import { type BatchHeader, encodeHeader, headerHash, recordOf } from '../../../core/proof/header.ts'
import { leafEncoder } from '../../../core/proof/leaf.ts'
import { sortLeaves } from '../../../core/proof/sort-leaves.ts'
import { merkleRoot, nodeHash, tileLeaves } from '../../../core/proof/tree.ts'
import { createKeccak } from '../../../runtime/hashes/keccak.ts'
import { openBatchBlobs } from '../../../runtime/nats/batch-blobs.ts'
import { ensureStreams } from '../../../runtime/nats/streams/streams.ts'
import { encodeTile } from '../../../schemas/anchoring/batch-blob.ts'
import { headerKey, sealedEntry } from '../../../schemas/anchoring/batch-record.ts'
import {
  type AnyDeployment,
  contractVersionOf,
  deploymentKeyOf,
  nextPlace,
  startOf,
} from '../../../schemas/anchoring/deployments.ts'
import { buckets } from '../../../schemas/subjects.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite.ts'
import { anvilAccount, testAnvil } from '../anvil.ts'
import type { TestApi } from '../api.ts'
import { eventually } from '../eventually.ts'
import { testNats } from '../nats.ts'
import { runCommand } from '../run-command.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const keccak = await createKeccak()

export type Lie = {
  /** The leaves in the order of the tree. */
  readonly leaves?: (leaves: Uint8Array[]) => Uint8Array[]
  /** Of each partition. */
  readonly counts?: (counts: number[]) => number[]
  /** What is claimed, and published: the contract has only its hash. */
  readonly header?: (header: BatchHeader) => BatchHeader
  /** It is anchored by one who has only the writer's key. */
  readonly isThief?: boolean
}

export type AuditedNetwork = Awaited<ReturnType<typeof auditedNetwork>>

/** A NATS with its streams, and a store. */
type Place = Pick<TestApi, 'nats' | 'nc' | 'store' | 'storeFile'>

async function newPlace(opened: AsyncDisposableStack): Promise<Place> {
  const nats = opened.use(await testNats())
  const folder = opened.use(temporaryFolder())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const storeFile = join(folder.path, 'readings.sqlite')
  return { nats, nc, storeFile, store: opened.use(await openSqliteStore({ file: storeFile })) }
}

/** @param api whose rows they are; absent: a place of its own */
export async function auditedNetwork(api?: Place) {
  await using opened = new AsyncDisposableStack()
  const anvil = opened.use(await testAnvil())
  const { nats, nc, store, storeFile } = api ?? (await newPlace(opened))
  const kvm = new Kvm(nc)
  const anchoring = await kvm.open(buckets.anchoring)
  const batches = await kvm.open(buckets.batches)
  const expected = { chainId: undefined, genesisHash: undefined }
  const ask = openRpc({ urls: [anvil.url], timeoutMs: 5_000, expected })
  const account = anvilAccount(3)
  const wallet = createWalletClient({ account, chain: foundry, transport: http(anvil.url) })
  const deployments: AnyDeployment[] = []
  const headers = new Map<number, BatchHeader>()
  let end: BatchEnd | undefined
  /** What contract 2 has the hash of. */
  let record: ChainRecord | undefined

  const send = async (data: Hex, to?: Hex) => {
    const hash = await wallet.sendTransaction({ data, gas: 2_000_000n, ...(to ? { to } : {}) })
    return eventually(`${hash} is mined`, async () => {
      const receipt = await anvil.rpc('eth_getTransactionReceipt', [hash])
      return (receipt ?? undefined) as
        | { status: Hex; contractAddress: Hex; blockNumber: Hex }
        | undefined
    })
  }
  /** A contract of version 2 where it is said how it begins. */
  const deploy = async (beginning?: Beginning): Promise<AnyDeployment> => {
    const made = await send(encodeDeployment(account.address, account.address, beginning))
    const contract: Hex = `0x${made.contractAddress.slice(2).toLowerCase()}`
    const version = beginning === undefined ? 1 : 2
    const block = Number(made.blockNumber)
    const deployment = await describeContract(ask, { contract, version, block })
    await keepDeployment(anchoring, deployment, version === 1 ? 1 : nextPlace(deployments))
    deployments.push(deployment)
    end = startOf(deployment, keccak)
    record = 'from' in deployment ? beginningOf(deployment, keccak) : undefined
    return deployment
  }
  const newest = (): AnyDeployment => {
    const deployment = deployments.at(-1)
    if (deployment === undefined) throw new Error('there is no contract yet')
    return deployment
  }
  const anchor = async (header: BatchHeader): Promise<void> => {
    const call = { ...header, headerHash: headerHash(header, keccak) }
    const data = encodeAnchorCall(record === undefined ? call : { ...call, prev: record })
    const { status } = await send(data, newest().contract)
    if (status !== '0x1') throw new Error(`the contract refuses batch ${header.index}`)
    record = record && recordOf(header, keccak)
  }
  const publish = async (
    header: BatchHeader,
    leaves: readonly Uint8Array[],
    roots: readonly Uint8Array[],
  ) => {
    const { index } = header
    headers.set(index, header)
    await writeBlob(jetstream(nc), index, encodeHeader(header, keccak), {
      tiles: () =>
        roots.map((_, tile) =>
          encodeTile(leaves.slice(tile * tileLeaves, (tile + 1) * tileLeaves)),
        ),
      roots,
    })
    const sealed = {
      header,
      headerHash: headerHash(header, keccak),
      head: endOf(header, keccak).head,
    }
    await batches.put(headerKey(index), JSON.stringify(sealedEntry(sealed)))
  }
  /** @param readings one batch of them, numbered, partition by partition */
  const seal = async (readings: readonly Reading[], lie: Lie = {}): Promise<BatchHeader> => {
    if (end === undefined) throw new Error('there is no contract yet')
    const version = contractVersionOf(newest())
    const hash = nodeHash(keccak, version)
    const made = readings.map(leafEncoder(keccak))
    const honest = version === 1 ? sortLeaves(made) : made
    const leaves = lie.leaves?.(honest) ?? honest
    const counts = Array.from({ length: partitionCount }, () => 0)
    for (const { seq } of readings) counts[partitionOfSeq(seq)]! += 1
    const roots = Array.from({ length: Math.ceil(leaves.length / tileLeaves) }, (_, tile) =>
      merkleRoot(leaves.slice(tile * tileLeaves, (tile + 1) * tileLeaves), hash),
    )
    const times = readings.map(({ timeMs }) => timeMs)
    const honestHeader = nextHeader(end, {
      last: end.last + 1,
      sealedMs: 1,
      ...(roots.length > 0 && {
        readings: {
          root: toHex(merkleRoot(roots, hash)),
          timeMinMs: times.reduce((a, b) => Math.min(a, b)),
          timeMaxMs: times.reduce((a, b) => Math.max(a, b)),
          counts: lie.counts?.(counts) ?? counts,
        },
      }),
    })
    const header = lie.header?.(honestHeader) ?? honestHeader
    if (lie.isThief !== true) await publish(header, leaves, roots)
    await anchor(header)
    end = endOf(header, keccak)
    return header
  }
  const env = { AIRPROOF_DATA: dirname(storeFile), NATS_URL: nats.url, CHAIN_RPC_URL: anvil.url }
  const run = async (
    flags: Record<string, string | boolean> = {},
    more: Record<string, string> = {},
  ) => {
    const { code, out, err } = await runCommand(command, {
      flags: { ...flags, json: true },
      env: { ...env, ...more },
    })
    const report = (out === '' ? {} : JSON.parse(out)) as AuditReport
    return {
      code,
      err,
      report,
      printed: (report.findings ?? []).map(({ kind, words }) => `${kind}: ${words}`),
    }
  }
  const closing = opened.move()
  return {
    anvil,
    nc,
    ask,
    store,
    storeFile,
    env,
    anchoring,
    batches,
    headers,
    blobs: await openBatchBlobs(nc),
    account,
    send,
    deploy,
    /** The newest contract goes on from a batch of a former one, by default the newest. */
    goOn: async (index = headers.size): Promise<AnyDeployment> => {
      const former = deployments.findLast((one) => ('from' in one ? one.from.index : 0) < index)
      const header = headers.get(index)
      if (former === undefined || header === undefined) throw new Error(`no batch ${index}`)
      return await deploy({ former: former.contract, from: recordOf(header, keccak) })
    },
    /** As if the newest contract had never been recorded. Nothing may be sealed after it. */
    forget: async (): Promise<void> => {
      deployments.pop()
      await anchoring.delete(deploymentKeyOf(nextPlace(deployments)))
    },
    seal,
    /** What is mined is final. */
    finalize: () => anvil.rpc('anvil_mine', ['0x4']),
    run,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
