/** Each contract's own story: every anchor it ever took, each following from the one before. */

import { type Hex, toHex, zeroHash } from '../../core/hex.ts'
import type { BatchEnd } from '../../core/proof/batch.ts'
import { recordHead } from '../../core/proof/chain-record.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { encodeWords } from '../../core/proof/words.ts'
import type { BlockId } from '../../schemas/anchoring/batch-record.ts'
import type { Anchored } from '../contract/registry.ts'
import { checkBeginning, type Tools } from './beginning.ts'
import { type Part, startOfPart } from './parts.ts'

/** Only from the events: none of our own records is believed. */
export function checkStory(parts: readonly Part[], finalized: BlockId, tools: Tools): void {
  for (const [k, part] of parts.entries()) {
    const { deployment, isOurCode } = part.story
    if (!isOurCode) {
      const { contract, chainId } = deployment
      tools.findings.add(
        'contract',
        undefined,
        `the code at ${contract} on chain ${chainId} is not that of our contract${part.version === 1 ? '' : ` in version ${part.version}`}, so its events prove nothing`,
      )
      continue
    }
    checkBeginning(part, parts.slice(0, k), tools)
    checkAnchors(part, finalized, tools)
  }
}

function checkAnchors(part: Part, finalized: BlockId, { findings, keccak }: Tools): void {
  const { story, counted, abandoned } = part
  const checkHead = (anchor: Anchored, before: Hex): void => {
    const { index } = anchor
    if (anchor.prevHead !== before)
      findings.add('head', index, `batch ${index}: the head before it is not the one it names`)
    if (headAfter(anchor, keccak) !== anchor.head)
      findings.add('head', index, `batch ${index}: its head does not follow from what was anchored`)
  }
  // the first one must follow the head that the contract was born with
  let end: Pick<BatchEnd, 'index' | 'head' | 'last' | 'nLast'> = startOfPart(part, keccak)
  for (const anchor of counted) {
    const { index, last } = anchor
    for (const words of eventFaults(anchor, end))
      findings.add('events', index, `batch ${index}: ${words}`)
    checkHead(anchor, end.head)
    end = { index, head: anchor.head, last, nLast: anchor.n ?? end.nLast }
  }
  // what is abandoned may say anything, but the heads show that no anchor was left out
  let { head } = end
  for (const anchor of abandoned) {
    checkHead(anchor, head)
    head = anchor.head
  }
  if (story.head !== head)
    findings.add(
      'head',
      undefined,
      `at block ${finalized.number} the head of contract ${story.deployment.contract} is ${story.head}, and its events lead to ${head}`,
    )
}

function* eventFaults(anchor: Anchored, end: Pick<BatchEnd, 'index' | 'last' | 'nLast'>) {
  const { index, first, last, count, root, before, n, exact } = anchor
  if (exact !== undefined) {
    const beyond = Object.entries(exact).filter(([, value]) => value > Number.MAX_SAFE_INTEGER)
    const words = beyond.map(([name, value]) => `${name} ${value}`).join(', ')
    yield `${words}: a log has no such number, and no batch of ours`
    return
  }
  if (index !== end.index + 1) yield `comes after batch ${end.index}`
  if (first !== end.last + 1) yield `begins at ${first}, and the batch before ended at ${end.last}`
  if (last < first - 1 || (count > 0 && last < first)) yield 'its range runs backwards'
  if ((count === 0) !== (root === zeroHash)) yield `${count} readings, and the root ${root}`
  if (before === undefined || n === undefined) return
  const gap = before.findIndex((number, partition) => number !== end.nLast[partition])
  if (gap >= 0)
    yield `partition ${gap} goes on after number ${before[gap]}, and the batch before ended at ${end.nLast[gap]}`
  const back = n.findIndex((number, partition) => number < (before[partition] ?? 0))
  if (back >= 0) yield `the numbers of partition ${back} go back`
  const sum = n.reduce((all, number, partition) => all + number - (before[partition] ?? 0), 0)
  if (sum !== count) yield `${count} readings, and its numbers make ${sum}`
}

const headAfter = (anchor: Anchored, keccak: Keccak): Hex => {
  const { prevHead, root, headerHash, n } = anchor
  const { index, first, last, count } = anchor.exact ?? anchor
  if (n !== undefined) return recordHead({ prevHead, index, root, headerHash, last, n }, keccak)
  return toHex(keccak(encodeWords([prevHead, index, root, headerHash, first, last, count])))
}
