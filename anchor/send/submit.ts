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
  /** The pool is asked about a transaction that is not mined at most so often. */
  readonly recheckMs: number
  readonly nowMs: () => number
}

export type Submission = {
  readonly look: Look
  /** The last batch in a block. */
  readonly onChain: number
  readonly entries: Entries
  /** Tells the other processes where a batch stands. */
  readonly record: (entry: Entry, look: Look) => Promise<void>
}

/** @returns what a person should know */
export type Submitter = (submission: Submission) => Promise<readonly Alarm[]>

/** A pool keeps a bounded number of one account, and a mistake must not be paid for often. */
export const maxInFlight = 16
/** An eighth more each time: enough from a hundredth of the cap to the cap. */
const maxVersions = 40
/** No call of ours needs less; where the node estimates more, half as much again. */
const leastGas = 60_000n

type Pending = Extract<Entry, { state: 'signed' | 'sent' }>

export function createSubmitter(options: SubmitOptions): Submitter {
  const { chain, deployment, account, journal, batches, rules, recheckMs, nowMs } = options
  const writer = account.address
  const lookedAtMs = new Map<number, number>()

  const sign = async (sealed: SealedBatch, nonce: number, fees: Fees, gas: bigint) => {
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: deployment.chainId,
      to: deployment.contract,
      data: callOf(sealed),
      nonce,
      gas,
      ...fees,
    })
    const version: Version = {
      raw,
      hash: keccak256(raw),
      maxFeePerGas: String(fees.maxFeePerGas),
      maxPriorityFeePerGas: String(fees.maxPriorityFeePerGas),
      signedMs: nowMs(),
    }
    return version
  }

  const gasOfNext = async (onChain: number): Promise<bigint> => {
    const next = batches.get(onChain + 1)
    if (next === undefined) return leastGas
    const estimate = await chain.gasOf(callOf(next))
    const roomy = (estimate * 3n) / 2n
    return roomy > leastGas ? roomy : leastGas
  }

  return async ({ look, onChain, entries, record }) => {
    const { value: stopped } = await journal.stopped()
    if (stopped !== undefined) {
      // a resync changes the journal behind our back
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

    const alarms = new Map<AlarmReason, string>()
    const market = once(() => chain.market(look.latest.baseFee))
    const gas = once(() => gasOfNext(onChain))
    const balance = once(chain.balance)
    /** What the transactions before this one may cost, for each unit of gas. */
    let offered = 0n

    const signFirst = async (sealed: SealedBatch): Promise<Pending | undefined> => {
      const { baseFee, tip } = await market()
      const fees = offer({ baseFee, tip }, rules)
      if (fees === undefined) {
        alarms.set('FEE_CAP', capWords(baseFee + tip, rules))
        return undefined
      }
      const needed = (await gas()) * (offered + fees.maxFeePerGas)
      if ((await balance()) < needed) {
        alarms.set('NO_FUNDS', `${writer} holds ${await balance()} wei and needs ${needed}`)
        return undefined
      }
      const { index } = sealed.header
      const nonce = nonceOf(pair, index)
      const versions = [await sign(sealed, nonce, fees, await gas())]
      const entry: Pending = { state: 'signed', index, nonce, versions }
      await entries.put(entry)
      return entry
    }

    /** Another version that offers more; durable when it returns. */
    const bump = async (entry: Pending, sealed: SealedBatch): Promise<Pending | undefined> => {
      const newest = entry.versions.at(-1)
      if (newest === undefined) return undefined
      const asked: Market = await market()
      const fees = raise(feesOf(newest), asked, rules)
      if (fees === undefined || entry.versions.length >= maxVersions) {
        alarms.set('FEE_CAP', capWords(asked.baseFee + asked.tip, rules))
        return undefined
      }
      const version = await sign(sealed, entry.nonce, fees, await gas())
      const next: Pending = {
        ...entry,
        state: 'signed',
        versions: [...entry.versions, version],
      }
      await entries.put(next)
      return next
    }

    const markSent = async (entry: Pending): Promise<void> => {
      lookedAtMs.set(entry.index, nowMs())
      if (entry.state === 'sent') return
      const sent: Pending = { ...entry, state: 'sent' }
      await entries.put(sent)
      await record(sent, look)
    }

    /** @returns false where the ones behind it need not be tried now */
    const broadcast = async (entry: Pending, sealed: SealedBatch): Promise<boolean> => {
      const raw = entry.versions.at(-1)?.raw
      if (raw === undefined) return false
      const { answer, words } = await chain.send(raw)
      switch (answer) {
        case 'pooled':
        case 'nonce_used':
          await markSent(entry)
          return true
        case 'underpriced':
        case 'fee_too_low':
          // sent by the next tick: one step up at a time
          await bump(entry, sealed)
          return false
        case 'no_funds':
          alarms.set('NO_FUNDS', `batch ${entry.index}: ${words}`)
          return false
        case 'refused':
          alarms.set('REFUSED', `batch ${entry.index}: ${words}`)
          return false
      }
    }

    const lookAgain = async (entry: Pending, sealed: SealedBatch): Promise<boolean> => {
      const newest = entry.versions.at(-1)
      const sinceMs = nowMs() - (lookedAtMs.get(entry.index) ?? -Infinity)
      if (newest === undefined || sinceMs < recheckMs) return true
      lookedAtMs.set(entry.index, nowMs())
      const isKnown = (await Promise.all(entry.versions.map(({ hash }) => chain.knows(hash)))).some(
        (known) => known,
      )
      if (!isKnown) return broadcast(entry, sealed)
      if (nowMs() - newest.signedMs < rules.bumpAfterMs) return true
      const { baseFee, tip } = await market()
      const isFirst = entry.index === onChain + 1
      if (!isFirst && feesOf(newest).maxFeePerGas >= baseFee + tip) return true
      const bumped = await bump(entry, sealed)
      return bumped === undefined ? false : broadcast(bumped, sealed)
    }

    const work = async (index: number): Promise<boolean> => {
      const sealed = batches.get(index)
      const kept = (await entries.get(index)).value
      if (sealed === undefined || (kept !== undefined && !isPending(kept))) return false
      // signed for another pair, before a resync: its nonce is not this batch's any more
      const isOfPair = kept?.nonce === nonceOf(pair, index)
      const entry = isOfPair ? kept : await signFirst(sealed)
      if (entry === undefined) return false
      offered += feesOf(entry.versions.at(-1)).maxFeePerGas
      return entry.state === 'signed' ? broadcast(entry, sealed) : lookAgain(entry, sealed)
    }

    for (const index of lookedAtMs.keys()) if (index <= onChain) lookedAtMs.delete(index)
    try {
      for (let index = onChain + 1; index <= last; index++) if (!(await work(index))) break
    } catch (error) {
      if (!(error instanceof RpcRefusal)) throw error
      alarms.set('REFUSED', error.message)
    }
    return [...alarms].map(([reason, words]) => ({ reason, words }))
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
  `the chain asks for ${wei} wei a unit of gas, and ANCHOR_MAX_FEE_GWEI allows ${capWei}`

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}
