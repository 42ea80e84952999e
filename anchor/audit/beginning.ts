/** Whether a contract of version 2 goes on from the last batch that counts, which it cannot check itself. */

import { type ChainRecord, noRecord, recordHead } from '../../core/proof/chain-record.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { recordOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import type { Anchored, Began } from '../contract/registry.ts'
import { hashOf } from './batch.ts'
import type { Findings } from './findings.ts'
import { type Part, startOfPart } from './parts.ts'

export type Tools = {
  readonly findings: Findings
  readonly keccak: Keccak
  /** As published: contract 1 knows no numbers, but the hash of the header that has them. */
  readonly headerOf: (index: number) => BatchHeader | undefined
}

/** @param before the contracts before it, in their order */
export function checkBeginning(part: Part, before: readonly Part[], tools: Tools): void {
  if (part.version === 1) return
  const { deployment, began } = part.story
  const { contract, block } = deployment
  const report = (words: string): void =>
    tools.findings.add('beginning', part.after, `contract ${contract} ${words}`)
  if (began === undefined) {
    report(`does not say how it began, from block ${block} on: that is not its first block`)
    return
  }
  if (began.head !== startOfPart(part, tools.keccak).head)
    report('began with a head that does not follow from what it says')
  if ('from' in deployment && !isSame(began, deployment, tools.keccak))
    report("did not begin as the operator's record has it")
  const fault = beginningFault(began, before, tools)
  if (fault !== undefined) report(fault)
}

const isSame = (one: Beginning, other: Beginning, keccak: Keccak): boolean =>
  one.former.toLowerCase() === other.former.toLowerCase() &&
  recordHead(one.from, keccak) === recordHead(other.from, keccak)

type Beginning = Pick<Began, 'former' | 'from'>

function beginningFault(
  { former, from }: Beginning,
  before: readonly Part[],
  { keccak, headerOf }: Tools,
): string | undefined {
  if (from.index === 0)
    return recordHead(from, keccak) === recordHead(noRecord, keccak)
      ? undefined
      : 'begins before the first batch, with numbers or a log that are not at their beginning'
  const address = former.toLowerCase()
  const part = before.find(({ story }) => story.deployment.contract === address)
  if (part === undefined)
    return `goes on from contract ${address}, which is not in the operator's record: what was anchored there is not known`
  if (before.findLast(({ after }) => after < from.index) !== part)
    return `goes on from batch ${from.index} of contract ${address}, where that batch did not count any more`
  const anchor = part.story.anchors[from.index - part.after - 1]
  if (anchor === undefined)
    return `goes on from batch ${from.index}, which contract ${address} has never anchored`
  return isRecordOf(anchor, from, { keccak, headerOf })
    ? undefined
    : `goes on from a batch ${from.index} that is not the one that contract ${address} anchored`
}

/** Of contract 1 the numbers are in the header, whose hash it has. */
function isRecordOf(
  anchor: Anchored,
  from: ChainRecord,
  { keccak, headerOf }: Pick<Tools, 'keccak' | 'headerOf'>,
): boolean {
  if (anchor.n !== undefined) return anchor.head === recordHead(from, keccak)
  const header = headerOf(from.index)
  return (
    header !== undefined &&
    hashOf(header, keccak) === anchor.headerHash &&
    recordHead(recordOf(header, keccak), keccak) === recordHead(from, keccak) &&
    from.prevHead === anchor.prevHead &&
    from.root === anchor.root &&
    from.last === anchor.last
  )
}
