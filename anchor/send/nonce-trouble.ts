import type { Chain, Look } from '../chain/chain.ts'
import type { SealedBatches } from '../sealed-batches.ts'
import type { Alarm } from './alarm.ts'
import type { Journal } from './journal.ts'
import type { Entries } from './journal-entries.ts'
import type { Pair, StopReason } from './journal-entry.ts'
import { nonceOf } from './nonce-pair.ts'

type Means = {
  readonly chain: Chain
  readonly journal: Journal
  readonly batches: SealedBatches
  readonly entries: Entries
  readonly nowMs: () => number
}

/**
 * Why nothing may be sent: the account's next nonce is not the next batch's. A mined revert stops
 * the sender at once; anything else once it is final, for a reorganisation may correct it.
 */
export async function nonceTrouble(
  { chain, journal, batches, entries, nowMs }: Means,
  look: Look,
  { onChain, pair }: { readonly onChain: number; readonly pair: Pair },
): Promise<Alarm | undefined> {
  const index = onChain + 1
  const expected = nonceOf(pair, index)
  if (look.nonce === expected) return undefined

  const stop = async (reason: StopReason, words: string): Promise<Alarm> => {
    const kept = await journal.stopped()
    const stopped = { reason, words, index, sinceMs: nowMs() }
    if (kept.value === undefined) await journal.putStopped(stopped, kept.revision)
    return { reason, words }
  }
  const versions = look.nonce > expected ? ((await entries.get(index)).value?.versions ?? []) : []
  for (const { hash } of versions) {
    const outcome = await chain.outcome(hash)
    if (outcome?.status !== 'reverted') continue
    return stop(
      'REVERTED',
      `batch ${index}: ${hash} was mined in block ${outcome.number} and did nothing: see why, then \`airproof anchor resync\``,
    )
  }
  const words = `batch ${index} has nonce ${expected} and the key's next one is ${look.nonce}: something else uses the key, or transactions were lost: see why, then \`airproof anchor resync\``
  const finalIndex = look.finalHead && batches.indexOfHead(look.finalHead)
  const isFinal =
    look.finalNonce !== undefined &&
    finalIndex !== undefined &&
    finalIndex + 1 >= pair.index0 &&
    look.finalNonce !== nonceOf(pair, finalIndex + 1)
  return isFinal ? stop('NONCE', words) : { reason: 'NONCE', words }
}
