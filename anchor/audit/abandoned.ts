/**
 * What a former contract holds after the last batch that counts there. A recovery anchors the operator's
 * own readings again, in a later contract. What no later contract has is a thief's, or history that the
 * operator took away: the chain cannot tell these apart, so the auditor has to know which one it is.
 */
import type { BatchHeader } from '../../core/proof/header.ts'
import type { Anchored } from '../contract/registry.ts'
import { isSameContent } from './batch.ts'
import type { Findings } from './findings.ts'
import type { Part } from './parts.ts'

export type Abandoned = {
  /** Their readings are anchored again in a later contract, in a batch of the same index. */
  readonly again: readonly Anchored[]
  /** They are the operator's batches of that index, which no later contract has yet. */
  readonly waiting: readonly Anchored[]
  /** Neither: a thief's, or taken away. */
  readonly foreign: readonly Anchored[]
}

/** @param headerOf as published now */
export function abandonedOf(
  { abandoned }: Part,
  parts: readonly Part[],
  headerOf: (index: number) => BatchHeader | undefined,
): Abandoned {
  const of: { again: Anchored[]; waiting: Anchored[]; foreign: Anchored[] } = {
    again: [],
    waiting: [],
    foreign: [],
  }
  for (const anchor of abandoned) {
    const counted = countedAt(parts, anchor.index)
    if (counted !== undefined) of[isSame(anchor, counted) ? 'again' : 'foreign'].push(anchor)
    else of[isSameContent(headerOf(anchor.index), anchor) ? 'waiting' : 'foreign'].push(anchor)
  }
  return of
}

/** Batch i is in one place of one contract, or not anchored yet. */
function countedAt(parts: readonly Part[], index: number): Anchored | undefined {
  const part = parts.findLast(({ after }) => after < index)
  return part?.counted[index - part.after - 1]
}

/** The same readings in the same places, with the same numbers. */
const isSame = (one: Anchored, other: Anchored): boolean =>
  one.root === other.root &&
  one.first === other.first &&
  one.last === other.last &&
  one.count === other.count &&
  isSameNumbers(one.before, other.before) &&
  isSameNumbers(one.n, other.n)

const isSameNumbers = (one: Anchored['n'], other: Anchored['n']): boolean =>
  one?.length === other?.length && (one ?? []).every((number, at) => number === other?.[at])

type Options = {
  readonly findings: Findings
  readonly headerOf: (index: number) => BatchHeader | undefined
  /** Contracts whose writer's key was stolen, as the auditor knows: what only they hold is the thief's. */
  readonly thefts: ReadonlySet<string>
  /** An anchor process that has run since before should have anchored them again. */
  readonly dueMs: number
  /** Since when one has run, by its own report; undefined: none runs. */
  readonly anchorSinceMs: number | undefined
}

export function checkAbandoned(
  parts: readonly Part[],
  { findings, headerOf, thefts, dueMs, anchorSinceMs }: Options,
): void {
  for (const part of parts) {
    const { contract } = part.story.deployment
    const { waiting, foreign } = abandonedOf(part, parts, headerOf)
    // heartbeats hold no reading that could be lost
    const lost = thefts.has(contract) ? [] : foreign.filter(({ count }) => count > 0)
    if (lost.length > 0)
      findings.add(
        'abandoned',
        lost[0]?.index,
        `contract ${contract} holds ${batchWords(lost)} that no later contract has: history was taken away, or a thief of the writer's key anchored them. If you know that it was a theft, say so with --theft ${contract}`,
      )
    const late = waiting.filter(({ count }) => count > 0)
    if (late.length === 0) continue
    const words = `${batchWords(late)} of the abandoned end of contract ${contract} are not anchored again yet`
    if (anchorSinceMs !== undefined && anchorSinceMs >= dueMs)
      findings.add('not_yet', late[0]?.index, `${words}: \`airproof anchor\` runs only since then`)
    else findings.add('waiting', late[0]?.index, `${words}: is \`airproof anchor\` running?`)
  }
}

function batchWords(anchors: readonly Anchored[]): string {
  const first = anchors[0]
  const readings = anchors.reduce((sum, { count }) => sum + count, 0)
  return `${readings} readings in ${anchors.length} ${anchors.length === 1 ? 'batch' : 'batches'} from ${first?.index} on`
}
