import type { Hex } from '../../core/hex.ts'
import type { Look } from '../chain/chain.ts'
import type { Journal } from './journal.ts'
import type { Pair } from './journal-entry.ts'

/** Every batch has one nonce of its key, known before anything is signed. */
export const nonceOf = ({ nonce0, index0 }: Pair, index: number): number => nonce0 + index - index0

type Place = {
  readonly journal: Journal
  readonly writer: Hex
  readonly look: Look
  /** The last batch in a block, by the same look. */
  readonly onChain: number
}

/**
 * The pair of the writer: the journal's, or a new one from the chain. What is in the pool does not
 * count: if it is ours, it has the very nonce and the very call that we will sign.
 * @throws Overtaken
 */
export async function pairFor({ journal, writer, look, onChain }: Place): Promise<Pair> {
  const recorded = await journal.pair(writer)
  if (recorded.value !== undefined) return recorded.value
  const pair = { index0: onChain + 1, nonce0: look.nonce }
  await journal.putPair(writer, pair, recorded.revision)
  return pair
}
