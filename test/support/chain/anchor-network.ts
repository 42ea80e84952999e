/**
 * One network to anchor: its own contract on a shared anvil, its own batches on a shared
 * nats-server, and senders that a test may kill at any point.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Chain, chainAt } from '../../../anchor/chain/chain.ts'
import type { FeeRules } from '../../../anchor/chain/fees.ts'
import { type Ask, openRpc } from '../../../anchor/chain/rpc.ts'
import type { Anchored } from '../../../anchor/contract/registry.ts'
import { deployRegistry } from '../../../anchor/deploy/deploy.ts'
import { fencedBucket, openFence } from '../../../anchor/fence.ts'
import { openSealedBatches } from '../../../anchor/sealed-batches.ts'
import { openJournal } from '../../../anchor/send/journal.ts'
import { openSender } from '../../../anchor/send/open-sender.ts'
import type { TickReport } from '../../../anchor/send/sender.ts'
import { toHex } from '../../../core/hex.ts'
import { type BatchEnd, beforeFirst, endOf, nextHeader } from '../../../core/proof/batch.ts'
import { headerHash, headOf } from '../../../core/proof/header.ts'
import { createKeccak } from '../../../runtime/hashes/keccak.ts'
import { ensureStreams } from '../../../runtime/nats/streams/streams.ts'
import { pause } from '../../../runtime/pause.ts'
import type { AnchoredEvent, Deployment } from '../../../schemas/anchoring/batch-record.ts'
import { buckets, eventsStream } from '../../../schemas/subjects.ts'
import type { TestAnvil } from '../anvil.ts'
import { eventually } from '../eventually.ts'

const gwei = 1_000_000_000n
export const rules: FeeRules = { capWei: 100n * gwei, bumpAfterMs: 60_000 }

/** For a busy machine. */
const patiently = { withinMs: 180_000 }

export type SenderChoice = {
  /** Nodes to use; the anvil itself by default. */
  readonly urls?: readonly string[]
  readonly rules?: FeeRules
  readonly recheckMs?: number
  readonly timeoutMs?: number
  /** Another key than the network's first. */
  readonly account?: PrivateKeyAccount
  /** Wraps the sender's access to its nodes. */
  readonly between?: (ask: Ask) => Ask
}

type Options = {
  readonly anvil: TestAnvil
  readonly nc: NatsConnection
  /** 0: the writer cannot pay. */
  readonly ether?: number
}

export type AnchorNetwork = AsyncDisposable & Awaited<ReturnType<typeof buildNetwork>>

/** A network on streams and buckets emptied for it. */
export async function anchorNetwork(options: Options): Promise<AnchorNetwork> {
  await emptied(options.nc)
  const network = await buildNetwork(options)
  return { ...network, [Symbol.asyncDispose]: () => network.batches[Symbol.asyncDispose]() }
}

async function emptied(nc: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(nc)
  const ours = [buckets.batches, buckets.anchoring, buckets.proofs].map((name) => `KV_${name}`)
  const names = [...ours, eventsStream, 'BLOBS', 'READINGS']
  const known = new Set<string>()
  for await (const { config } of manager.streams.list()) known.add(config.name)
  for (const name of names) if (known.has(name)) await manager.streams.delete(name)
  await ensureStreams(nc)
  for (const name of names) {
    const { state } = await manager.streams.info(name)
    if (state.last_seq > 0) throw new Error(`${name} holds messages after it was deleted and made`)
  }
}

async function buildNetwork({ anvil, nc, ether = 10 }: Options) {
  const keccak = await createKeccak()
  const account = privateKeyToAccount(generatePrivateKey())
  const fund = (amount: number) =>
    anvil.rpc('anvil_setBalance', [
      account.address,
      `0x${(BigInt(Math.round(amount * 1e6)) * 10n ** 12n).toString(16)}`,
    ])
  await fund(10)
  const stop = new AbortController()
  const direct = openRpc({
    urls: [anvil.url],
    timeoutMs: 15_000,
    expected: { chainId: undefined, genesisHash: undefined },
  })
  // whether blocks are mined automatically or not; none may be once the network is built
  const deployed = new AbortController()
  const mining = (async () => {
    while (!deployed.signal.aborted) {
      await anvil.rpc('evm_mine').catch(() => undefined)
      await pause(20, deployed.signal)
    }
  })()
  let deployment: Deployment
  try {
    deployment = await deployRegistry({
      ask: direct,
      account,
      owner: account.address,
      rules,
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20))),
      stop: stop.signal,
    })
  } finally {
    deployed.abort()
    await mining
  }
  const height = async (): Promise<number> => Number(await anvil.rpc('eth_blockNumber'))
  /** Anvil responds before a requested block is there, and such a late block disturbs a test. */
  const mine = async (blocks = 1): Promise<void> => {
    const before = await height()
    await anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`])
    await eventually('the blocks are there', async () => (await height()) >= before + blocks)
  }
  let seen = -1
  let same = 0
  await eventually('no more blocks come', async () => {
    const now = await height()
    same = now === seen ? same + 1 : 0
    seen = now
    return same === 10
  })
  // the contract's own block is final
  await mine(4)
  await fund(ether)
  const start = beforeFirst(deployment.chainId, deployment.contract, keccak)
  const batches = await openSealedBatches(nc, [start])
  const kvm = new Kvm(nc)
  const js = jetstream(nc)
  const chain = chainAt(direct, deployment.contract, account.address)
  const fence = openFence(await kvm.open(buckets.anchoring), [deployment])
  const fenced = async (bucket: string) => fencedBucket({ js, kv: await kvm.open(bucket), fence })
  let end: BatchEnd = start

  const sender = async (choice: SenderChoice = {}): Promise<() => Promise<TickReport>> => {
    const ask = openRpc({
      urls: choice.urls ?? [anvil.url],
      timeoutMs: choice.timeoutMs ?? 15_000,
      expected: { chainId: deployment.chainId, genesisHash: deployment.genesisHash },
    })
    return openSender({
      ask: choice.between?.(ask) ?? ask,
      account: choice.account ?? account,
      deployment,
      batches,
      until: Infinity,
      js,
      keccak,
      journal: await fenced(buckets.anchoring),
      proofs: await fenced(buckets.proofs),
      fence,
      rules: choice.rules ?? rules,
      recheckMs: choice.recheckMs ?? 0,
      nowMs: Date.now,
    })
  }
  const anchors = () => anchorsOf(chain, deployment.block)
  const events = () => eventsOn(nc)

  return {
    account,
    batches,
    chain,
    deployment,
    fund,
    mine,
    nc,
    sender,
    journal: openJournal(await kvm.open(buckets.anchoring), keccak),
    journalKv: await kvm.open(buckets.anchoring),
    /** Seals batches without a log: what the sender needs is their headers. */
    seal: async (count = 1, rootOf: (index: number) => number = (index) => index) => {
      for (let i = 0; i < count; i++) {
        const root = toHex(keccak(new TextEncoder().encode(`root ${rootOf(end.index + 1)}`)))
        const header = nextHeader(end, {
          last: end.last + 1,
          sealedMs: 1,
          readings: { root, timeMinMs: 1, timeMaxMs: 2, counts: [1] },
        })
        const sealed = {
          header,
          headerHash: headerHash(header, keccak),
          head: headOf(header, keccak),
        }
        await batches.putSealed(sealed)
        end = endOf(header, keccak)
      }
      await batches.barrier()
    },
    /** Ticks, and mines, until every sealed batch is final. @returns how many ticks it took */
    settle: async (tick: () => Promise<TickReport>, { blocks = 1 } = {}): Promise<number> => {
      let ticks = 0
      await eventually(
        'every batch is final',
        async () => {
          const { final, alarms } = await tick()
          ticks++
          if (final === batches.last()) return true
          if (alarms.length > 0) throw new Error(alarms.map(({ words }) => words).join())
          await mine(blocks)
          return undefined
        },
        patiently,
      )
      return ticks
    },
    /** The state of the chain now. */
    anchors,
    events,
    /** Indices of the anchors on the chain, and of the events told of them, in order. */
    reported: async () => ({
      anchors: (await anchors()).map(({ index }) => index),
      events: (await events()).map(({ index }) => index),
    }),
    loseJournal: async (): Promise<void> => {
      const manager = await jetstreamManager(nc)
      await manager.streams.purge(`KV_${buckets.anchoring}`)
    },
  }
}

const anchorsOf = async (chain: Chain, from: number): Promise<Anchored[]> =>
  chain.anchored(from, Number(await chain.ask('eth_blockNumber')))

/** Batches told of as anchored, in the order they were told. */
async function eventsOn(nc: NatsConnection): Promise<AnchoredEvent[]> {
  const manager = await jetstreamManager(nc)
  const { state } = await manager.streams.info(eventsStream)
  const events: AnchoredEvent[] = []
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(eventsStream, { seq })
    if (message) events.push(message.json())
  }
  return events
}

/** The state of a contract and EVENTS, whichever process made it. */
export async function toldOn(nc: NatsConnection, url: string, contract: string) {
  const expected = { chainId: undefined, genesisHash: undefined }
  const ask = openRpc({ urls: [url], timeoutMs: 15_000, expected })
  const address = `0x${contract.slice(2)}` as const
  const anchors = await anchorsOf(chainAt(ask, address, address), 0)
  return {
    anchors: anchors.map(({ index }) => index),
    events: (await eventsOn(nc)).map(({ index }) => index),
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

/** One anchor and one event a batch, what `told` must say. */
export const oneEach = (count: number) => ({ anchors: upTo(count), events: upTo(count) })
