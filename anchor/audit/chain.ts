/** The contract's own story: every anchor it ever took, each following from the one before. */

import { type Hex, toHex, zeroHash } from '../../core/hex.ts'
import { encodeWords } from '../../core/proof/abi-words.ts'
import { type BatchEnd, beforeFirst } from '../../core/proof/batch.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import type { BlockId, Deployment } from '../../schemas/anchoring/batch-record.ts'
import type { Anchored } from '../contract/registry.ts'
import type { Findings } from './findings.ts'

export type Story = {
  /** In the order of the chain; the place of batch i is i − 1 where nothing is wrong. */
  readonly anchors: readonly Anchored[]
  /** Everything up to this block was looked at. */
  readonly finalized: BlockId
  /** The time of that block. */
  readonly finalizedMs: number
  /** The contract's head at that block. */
  readonly head: Hex
  /** The code at the contract's address is our contract's; if not, nothing above is known. */
  readonly isOurCode: boolean
}

/** Only from the events: none of our own records is read. */
export function checkStory(
  { anchors, finalized, head, isOurCode }: Story,
  { chainId, contract }: Deployment,
  { findings, keccak }: { readonly findings: Findings; readonly keccak: Keccak },
): void {
  if (!isOurCode) {
    findings.add(
      'contract',
      undefined,
      `the code at ${contract} on chain ${chainId} is not that of our contract, so its events prove nothing`,
    )
    return
  }
  // the first one must have index 1 and follow the head that the contract was born with
  let end: Pick<BatchEnd, 'index' | 'head' | 'last'> = beforeFirst(chainId, contract, keccak)
  for (const anchor of anchors) {
    const { index, prevHead, first, last, count, root } = anchor
    const report = (words: string): void =>
      findings.add('events', index, `batch ${index}: ${words}`)
    if (index !== end.index + 1) report(`comes after batch ${end.index}`)
    if (first !== end.last + 1)
      report(`begins at ${first}, and the batch before ended at ${end.last}`)
    if (last < first - 1 || (count > 0 && last < first)) report('its range runs backwards')
    if ((count === 0) !== (root === zeroHash)) report(`${count} readings, and the root ${root}`)
    if (prevHead !== end.head)
      findings.add('head', index, `batch ${index}: the head before it is not the one it names`)
    const follows = headAfter(anchor, keccak)
    if (follows !== anchor.head)
      findings.add('head', index, `batch ${index}: its head does not follow from what was anchored`)
    end = { index, head: anchor.head, last }
  }
  if (head !== end.head)
    findings.add(
      'head',
      undefined,
      `at block ${finalized.number} the contract's head is ${head}, and its events lead to ${end.head}`,
    )
}

const headAfter = (anchor: Anchored, keccak: Keccak): Hex => {
  const { prevHead, index, root, headerHash, first, last, count } = anchor
  return toHex(keccak(encodeWords([prevHead, index, root, headerHash, first, last, count])))
}
