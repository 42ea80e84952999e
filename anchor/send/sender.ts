/**
 * The sender: every sealed batch is anchored exactly once, whatever dies in between.
 *
 *     (sealed) ─▶ signed ─▶ sent ─▶ mined ─▶ final
 *                            ▲        │        │
 *                            └─reorg──┴─audit──┘
 *
 * One tick looks at the chain, brings the journal in line with the chain, and then does what is
 * still to be done. It may be stopped anywhere and begun again. Where the process may die:
 *
 * - before the journal has the signed transaction: nothing left the process; it is signed again;
 * - after that, before or after it was sent: the journal's bytes are sent again, the same ones;
 * - after it was mined: the contract's events say so, whether the journal knows the transaction or
 *   not;
 * - while a batch is made final: each step changes nothing the second time.
 *
 * What keeps it to one anchor a batch is not the journal but the contract: a call names the head
 * it was made for, and a nonce belongs to one batch.
 */
import type { Hex } from '../../core/hex.ts'
import type { AnyDeployment } from '../../schemas/anchoring/deployments.ts'
import type { Chain, Look } from '../chain/chain.ts'
import type { Anchored } from '../contract/registry.ts'
import { ContractChanged } from '../contract-changed.ts'
import type { SealedBatches } from '../sealed-batches.ts'
import type { Alarm } from './alarm.ts'
import type { Journal } from './journal.ts'
import { createEntries, type Entries } from './journal-entries.ts'
import type { Entry, Pair } from './journal-entry.ts'
import { nonceOf, pairFor } from './nonce-pair.ts'
import type { Submitter } from './submit.ts'

export type SenderOptions = {
  readonly chain: Chain
  readonly deployment: AnyDeployment
  readonly writer: Hex
  readonly journal: Journal
  readonly batches: SealedBatches
  readonly submit: Submitter
  /**
   * Reports a final anchor, and stores its proof; a second time it changes nothing.
   * @returns false where the chain has changed meanwhile
   */
  readonly finish: (anchored: Anchored, look: Look) => Promise<boolean>
  readonly nowMs: () => number
}

/** What a tick found, for metrics and the log. */
export type TickReport = {
  readonly alarms: readonly Alarm[]
  /** Index of the last batch in a block, and of the last final one. */
  readonly onChain: number
  readonly final: number
  readonly finalized: Look['finalized']
}

const checkedAtMostEveryMs = 10_000
const checkedAtLeastEveryMs = 60_000

/** The sender of one process; only one tick may run at a time. */
export class Sender {
  readonly #options: SenderOptions
  readonly #entries: Entries
  /** The blocks at which everything on the chain was last in the journal. */
  #reconciledAt = ''
  /** What the other processes last received about the finalized head. */
  #checked = { index: -1, hash: '', atMs: -Infinity }
  /** The final batches are looked at by turns, down to the first. */
  #auditedTo = 0

  constructor(options: SenderOptions) {
    this.#options = options
    this.#entries = createEntries(options.journal)
  }

  readonly #record = (entry: Entry, look: Look): Promise<void> => {
    const { batches, nowMs } = this.#options
    const tx = 'tx' in entry ? entry.tx : entry.versions.at(-1)?.hash
    const stored = batches.anchored(entry.index)
    const status = entry.state === 'signed' ? 'sent' : entry.state
    const isMined = entry.state === 'mined'
    if (tx === undefined || (stored?.status === status && stored.tx === tx && !isMined))
      return Promise.resolve()
    return batches.putAnchored({
      index: entry.index,
      status,
      tx,
      block: isMined ? entry.block : null,
      blockHash: isMined ? entry.blockHash : null,
      blockTimeS: null,
      finalized: look.finalized,
      checkedMs: nowMs(),
    })
  }

  /** The chain has gone back before what was final: only that very block shows it. */
  async #hasGoneBack(look: Look, final: number): Promise<boolean> {
    const { batches, chain } = this.#options
    const stored = batches.anchored(final)
    if (stored === undefined || stored.block === null || stored.blockTimeS === null) return true
    const block = await chain.block(stored.block)
    if (block !== undefined) return block.hash !== stored.blockHash
    // a chain that is shorter: a node that lags is older too, one that began again is not
    const latest = await chain.block(look.latest.number)
    return latest !== undefined && latest.timeS > stored.blockTimeS
  }

  /** One final batch a finalized head, by turns, and the newest always: is its block still there? */
  async #audit(final: number): Promise<number> {
    const { batches, chain } = this.#options
    this.#auditedTo = this.#auditedTo <= 1 ? final : this.#auditedTo - 1
    for (const index of new Set([final, this.#auditedTo])) {
      const stored = batches.anchored(index)
      if (stored?.status !== 'final' || stored.block === null) continue
      const block = await chain.block(stored.block)
      if (block !== undefined && block.hash !== stored.blockHash) return index - 1
    }
    return final
  }

  /**
   * The state of every batch that is not final, by the contract's own events.
   * @param pair undefined: it is not known which nonces they had
   */
  async #reconcile(look: Look, final: number, pair: Pair | undefined): Promise<Anchored[]> {
    const { batches, chain, deployment } = this.#options
    const from = batches.anchored(final)?.block ?? deployment.block
    const events = (await chain.anchored(from, look.latest.number)).filter(
      ({ index, head }) => index > final && batches.get(index)?.head === head,
    )
    for (const event of events) {
      const { value: entry } = await this.#entries.get(event.index)
      const { txHash: tx, blockNumber: block, blockHash } = event
      const isKnown = entry?.state === 'mined' && entry.tx === tx && entry.blockHash === blockHash
      if (isKnown) continue
      const mined: Entry = {
        state: 'mined',
        index: event.index,
        nonce: entry?.nonce ?? (pair === undefined ? 0 : nonceOf(pair, event.index)),
        versions: entry?.versions ?? [],
        tx,
        block,
        blockHash,
      }
      await this.#entries.put(mined)
      await this.#record(mined, look)
    }
    return events
  }

  /** Reorganised away: from mined, or from final, back to sent. */
  async #reopen(look: Look, onChain: number): Promise<void> {
    const { batches } = this.#options
    for (let index = onChain + 1; batches.anchored(index) !== undefined; index++) {
      const { value: entry } = await this.#entries.get(index)
      if (entry === undefined || entry.state === 'signed' || entry.state === 'sent') continue
      // one that was only ever found on the chain has no bytes to send: it is signed again
      if (entry.versions.length === 0) await this.#entries.forget(index)
      else {
        const { nonce, versions } = entry
        const sent: Entry = { state: 'sent', index, nonce, versions }
        await this.#entries.put(sent)
        await this.#record(sent, look)
      }
    }
  }

  /** @returns the last final batch */
  async #makeFinal(
    look: Look,
    events: readonly Anchored[],
    from: number,
    to = this.#finalIndexOf(look),
  ): Promise<number> {
    let final = from
    for (const event of events) {
      const isNext = event.index === final + 1 && event.index <= to
      if (!isNext || event.blockNumber > look.finalized.number) continue
      const { value: entry } = await this.#entries.get(event.index)
      if (entry?.state !== 'mined' || !(await this.#options.finish(event, look))) break
      await this.#entries.put({ ...entry, state: 'final' })
      await this.#entries.putFinal(event.index)
      this.#entries.drop(event.index)
      final = event.index
    }
    return final
  }

  async #reconcileTo(onChain: number, look: Look, final: number): Promise<Anchored[]> {
    const { journal, writer } = this.#options
    return await this.#reconcile(look, final, await pairFor({ journal, writer, look, onChain }))
  }

  /**
   * The contract holds what is not ours: a thief's, or anchored after the backup that we were restored
   * from. What it holds of ours before that is final all the same, and a contract that goes on after
   * the last of them needs it to be.
   */
  async #finishOurs(look: Look, final: number): Promise<number> {
    const { journal, writer } = this.#options
    const { value: pair } = await journal.pair(writer)
    return await this.#makeFinal(look, await this.#reconcile(look, final, pair), final, Infinity)
  }

  #finalIndexOf({ finalHead }: Look): number {
    return (finalHead === undefined ? undefined : this.#options.batches.indexOfHead(finalHead)) ?? 0
  }

  async #keepChecked(look: Look, index: number): Promise<void> {
    const { batches, nowMs } = this.#options
    const { finalHead, finalized } = look
    const head = index === 0 ? finalHead : batches.get(index)?.head
    if (finalHead === undefined || head === undefined) return
    const sinceMs = nowMs() - this.#checked.atMs
    const isNew = this.#checked.hash !== finalized.hash || this.#checked.index !== index
    const isDue = this.#checked.index !== index || sinceMs >= checkedAtLeastEveryMs
    if (!isDue && (!isNew || sinceMs < checkedAtMostEveryMs)) return
    await batches.putChecked({ index, head, ...finalized, checkedMs: nowMs() })
    this.#checked = { index, hash: finalized.hash, atMs: nowMs() }
  }

  /** @throws ChainAway, WrongChain, Overtaken, ContractChanged */
  readonly tick = async (): Promise<TickReport> => {
    const { batches, chain, deployment, submit } = this.#options
    const look = await chain.look()
    // what another process has sealed and sent meanwhile is ours too
    if (batches.indexOfHead(look.head) === undefined) await batches.barrier()
    const onChain = batches.indexOfHead(look.head)
    let final = await this.#entries.final()
    const report = { final, finalized: look.finalized }
    const place = `${look.latest.hash} ${look.finalized.hash}`
    if (onChain === undefined) {
      if (place !== this.#reconciledAt) final = await this.#finishOurs(look, final)
      this.#reconciledAt = place
      const words = `the contract holds head ${look.head}, which none of our batches left`
      return { ...report, final, onChain: final, alarms: [{ reason: 'DIVERGED', words }] }
    }
    if (onChain < final) {
      // a node that lags, or lies: nothing is done on its word
      if (!(await this.#hasGoneBack(look, final))) return { ...report, onChain, alarms: [] }
      await this.#entries.putFinal(onChain)
      final = onChain
      if ('from' in deployment && deployment.from.index > 0)
        throw new ContractChanged('the chain lost anchors: those of the former contract come first')
    } else if (this.#checked.hash !== look.finalized.hash) {
      const holds = await this.#audit(final)
      if (holds < final) await this.#entries.putFinal(holds)
      final = holds
    }
    if (place !== this.#reconciledAt) {
      this.#reconciledAt = ''
      await this.#reopen(look, onChain)
      const events = onChain > final ? await this.#reconcileTo(onChain, look, final) : []
      final = await this.#makeFinal(look, events, final)
      if (final >= Math.min(this.#finalIndexOf(look), onChain)) this.#reconciledAt = place
    }
    await this.#keepChecked(look, Math.min(final, this.#finalIndexOf(look)))
    const alarms = await submit({ look, onChain, entries: this.#entries, record: this.#record })
    return { ...report, final, onChain, alarms }
  }
}
