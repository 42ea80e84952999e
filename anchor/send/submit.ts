/** The half of a tick that signs and sends: never before the journal holds what is sent. */
import { keccak256, type PrivateKeyAccount } from 'viem'
import type { Deployment, SealedBatch } from '../../schemas/anchoring/batch-record.ts'
import type { Chain, Look } from '../chain/chain.ts'
import { type FeeRules, type Fees, type Market, offer, raise } from '../chain/fees.ts'
import { RpcRefusal } from '../chain/rpc.ts'
import { encodeAnchorCall } from '../contract/registry.ts'
import type { SealedBatches } from '../sealed-batches.ts'
import type { Alarm, AlarmReason } from './alarm.ts'
import type { Journal } from './journal.ts'
import type { Entries } from './journal-entries.ts'
import type { Entry, Pair, Version } from './journal-entry.ts'
import { nonceOf, pairFor } from './nonce-pair.ts'
import { nonceTrouble } from './nonce-trouble.ts'

export type SubmitOptions = {
  readonly chain: Chain
  readonly deployment: Deployment
  readonly account: PrivateKeyAccount
  readonly journal: Journal
  readonly batches: SealedBatches
  readonly rules: FeeRules
  /** Shortest time between two questions to the pool about a transaction that is not mined. */
  readonly recheckMs: number
  readonly nowMs: () => number
}

export type Submission = {
  readonly look: Look
  /** The last batch in a block. */
  readonly onChain: number
  readonly entries: Entries
  /** Reports the state of a batch to the other processes. */
  readonly record: (entry: Entry, look: Look) => Promise<void>
}

/** @returns what a person should know */
export type Submitter = (submission: Submission) => Promise<readonly Alarm[]>

/** A pool keeps a bounded number of one account, and a mistake must not be paid for often. */
export const maxInFlight = 16
/** An eighth more each time: enough from a hundredth of the cap to the cap. */
const maxVersions = 40
/** No call needs less; where the node estimates more, half of it is added. */
const leastGas = 60_000n

type Pending = Extract<Entry, { state: 'signed' | 'sent' }>

export function createSubmitter(options: SubmitOptions): Submitter {
  const { chain, account, journal, batches, nowMs } = options
  const writer = account.address
  /** When the pool was last asked about a batch's transaction, by index. */
  const lookedAtMs = new Map<number, number>()

  return async (submission) => {
    const { look, onChain, entries } = submission
    const { value: stopped } = await journal.stopped()
    if (stopped !== undefined) {
      // a resync has changed the journal meanwhile
      entries.dropAll()
      return [{ reason: stopped.reason, words: stopped.words }]
    }
    const last = Math.min(batches.last(), onChain + maxInFlight)
    if (last === onChain) return []
    const pair: Pair = await pairFor({ journal, writer, look, onChain })
    const trouble = await nonceTrouble({ chain, journal, batches, entries, nowMs }, look, {
      onChain,
      pair,
    })
    if (trouble !== undefined) {
      entries.dropAll()
      return [trouble]
    }
    for (const index of lookedAtMs.keys()) if (index <= onChain) lookedAtMs.delete(index)
    return await new Round({ ...options, ...submission, pair, lookedAtMs }).run(last)
  }
}

type RoundOptions = SubmitOptions &
  Submission & { readonly pair: Pair; readonly lookedAtMs: Map<number, number> }

/** One tick's work on the batches after the last one in a block, in their order. */
class Round {
  readonly #options: RoundOptions
  readonly #alarms = new Map<AlarmReason, string>()
  readonly #market: () => Promise<Market>
  readonly #gas: () => Promise<bigint>
  readonly #balance: () => Promise<bigint>
  /** What the transactions before this one may cost, for each unit of gas. */
  #offered = 0n

  constructor(options: RoundOptions) {
    const { chain, look } = options
    this.#options = options
    this.#market = once(() => chain.market(look.latest.baseFee))
    this.#gas = once(() => this.#gasOfNext())
    this.#balance = once(chain.balance)
  }

  /** @returns what a person should know */
  async run(last: number): Promise<readonly Alarm[]> {
    try {
      for (let index = this.#options.onChain + 1; index <= last; index++)
        if (!(await this.#work(index))) break
    } catch (error) {
      if (!(error instanceof RpcRefusal)) throw error
      this.#alarms.set('REFUSED', error.message)
    }
    return [...this.#alarms].map(([reason, words]) => ({ reason, words }))
  }

  /** @returns false where the batches after it need not be tried now */
  async #work(index: number): Promise<boolean> {
    const { batches, entries, pair } = this.#options
    const sealed = batches.get(index)
    const stored = (await entries.get(index)).value
    if (sealed === undefined || (stored !== undefined && !isPending(stored))) return false
    // signed for another pair, before a resync: its nonce is not this batch's any more
    const isOfPair = stored?.nonce === nonceOf(pair, index)
    const entry = isOfPair ? stored : await this.#signFirst(sealed)
    if (entry === undefined) return false
    this.#offered += feesOf(entry.versions.at(-1)).maxFeePerGas
    return entry.state === 'signed'
      ? this.#broadcast(entry, sealed)
      : this.#lookAgain(entry, sealed)
  }

  async #signFirst(sealed: SealedBatch): Promise<Pending | undefined> {
    const { rules, account, entries, pair } = this.#options
    const { baseFee, tip } = await this.#market()
    const fees = offer({ baseFee, tip }, rules)
    if (fees === undefined) {
      this.#alarms.set('FEE_CAP', capWords(baseFee + tip, rules))
      return undefined
    }
    const needed = (await this.#gas()) * (this.#offered + fees.maxFeePerGas)
    const balance = await this.#balance()
    if (balance < needed) {
      this.#alarms.set('NO_FUNDS', `${account.address} holds ${balance} wei and needs ${needed}`)
      return undefined
    }
    const { index } = sealed.header
    const nonce = nonceOf(pair, index)
    const versions = [await this.#sign(sealed, nonce, fees)]
    const entry: Pending = { state: 'signed', index, nonce, versions }
    await entries.put(entry)
    return entry
  }

  /** Another version that offers more; durable when it returns. */
  async #bump(entry: Pending, sealed: SealedBatch): Promise<Pending | undefined> {
    const { rules, entries } = this.#options
    const newest = entry.versions.at(-1)
    if (newest === undefined) return undefined
    const market = await this.#market()
    const fees = raise(feesOf(newest), market, rules)
    if (fees === undefined || entry.versions.length >= maxVersions) {
      this.#alarms.set('FEE_CAP', capWords(market.baseFee + market.tip, rules))
      return undefined
    }
    const version = await this.#sign(sealed, entry.nonce, fees)
    const next: Pending = { ...entry, state: 'signed', versions: [...entry.versions, version] }
    await entries.put(next)
    return next
  }

  async #markSent(entry: Pending): Promise<void> {
    const { lookedAtMs, nowMs, entries, record, look } = this.#options
    lookedAtMs.set(entry.index, nowMs())
    if (entry.state === 'sent') return
    const sent: Pending = { ...entry, state: 'sent' }
    await entries.put(sent)
    await record(sent, look)
  }

  async #broadcast(entry: Pending, sealed: SealedBatch): Promise<boolean> {
    const raw = entry.versions.at(-1)?.raw
    if (raw === undefined) return false
    const { answer, words } = await this.#options.chain.send(raw)
    switch (answer) {
      case 'pooled':
      case 'nonce_used':
        await this.#markSent(entry)
        return true
      case 'underpriced':
      case 'fee_too_low':
        // sent by the next tick: one step up at a time
        await this.#bump(entry, sealed)
        return false
      case 'no_funds':
        this.#alarms.set('NO_FUNDS', `batch ${entry.index}: ${words}`)
        return false
      case 'refused':
        this.#alarms.set('REFUSED', `batch ${entry.index}: ${words}`)
        return false
    }
  }

  async #lookAgain(entry: Pending, sealed: SealedBatch): Promise<boolean> {
    const { chain, lookedAtMs, nowMs, recheckMs, rules, onChain } = this.#options
    const newest = entry.versions.at(-1)
    const sinceMs = nowMs() - (lookedAtMs.get(entry.index) ?? -Infinity)
    if (newest === undefined || sinceMs < recheckMs) return true
    lookedAtMs.set(entry.index, nowMs())
    const known = await Promise.all(entry.versions.map(({ hash }) => chain.knows(hash)))
    if (!known.includes(true)) return this.#broadcast(entry, sealed)
    if (nowMs() - newest.signedMs < rules.bumpAfterMs) return true
    const { baseFee, tip } = await this.#market()
    const isFirst = entry.index === onChain + 1
    if (!isFirst && feesOf(newest).maxFeePerGas >= baseFee + tip) return true
    const bumped = await this.#bump(entry, sealed)
    return bumped === undefined ? false : this.#broadcast(bumped, sealed)
  }

  async #sign(sealed: SealedBatch, nonce: number, fees: Fees): Promise<Version> {
    const { account, deployment, nowMs } = this.#options
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: deployment.chainId,
      to: deployment.contract,
      data: callOf(sealed),
      nonce,
      gas: await this.#gas(),
      ...fees,
    })
    return {
      raw,
      hash: keccak256(raw),
      maxFeePerGas: String(fees.maxFeePerGas),
      maxPriorityFeePerGas: String(fees.maxPriorityFeePerGas),
      signedMs: nowMs(),
    }
  }

  async #gasOfNext(): Promise<bigint> {
    const { batches, chain, onChain } = this.#options
    const next = batches.get(onChain + 1)
    if (next === undefined) return leastGas
    const estimate = await chain.gasOf(callOf(next))
    const roomy = (estimate * 3n) / 2n
    return roomy > leastGas ? roomy : leastGas
  }
}

const isPending = (entry: Entry): entry is Pending =>
  entry.state === 'signed' || entry.state === 'sent'

const callOf = ({ header, headerHash }: SealedBatch) => encodeAnchorCall({ ...header, headerHash })

const feesOf = (version: Version | undefined): Fees => ({
  maxFeePerGas: BigInt(version?.maxFeePerGas ?? 0),
  maxPriorityFeePerGas: BigInt(version?.maxPriorityFeePerGas ?? 0),
})

const capWords = (wei: bigint, { capWei }: FeeRules): string =>
  `the chain asks for ${wei} wei per unit of gas, and ANCHOR_MAX_FEE_GWEI allows ${capWei}`

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}
