import type { Hex } from '../../core/hex.ts'
import type { Journal } from './journal.ts'

type Place = {
  /** The last batch that another contract holds. */
  readonly index: number
  /** The last one that is sealed. */
  readonly last: number
  readonly writer: Hex
}

/**
 * After a new contract is there: what was signed for the old one is forgotten, and the writer's pair,
 * because the deployment took one of its nonces. The sender makes both again from the chain.
 * @throws Overtaken the sender runs: it must not
 */
export async function goOnAfter(journal: Journal, { index, last, writer }: Place): Promise<void> {
  await journal.forgetEntries(index + 1, last)
  const { value: final = 0, revision } = await journal.final()
  if (final > index) await journal.putFinal(index, revision)
  await journal.forgetPair(writer)
  await journal.clearStopped()
}
