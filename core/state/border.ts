/**
 * The border between leaf 1 and leaf 2 in the log. A batch is made of leaves of one version, so no
 * message of version 3 may hold readings before all sixteen partitions write version 3:
 *
 * - the first such message of each partition holds nothing: it is the partition's **mark**;
 * - a worker commits nothing after its mark until every partition has one;
 * - B is the sequence of the last mark: every message up to B has leaf 1, every one after B leaf 2.
 *
 * An instance that was new at format level 3 has no marks: everything in it has leaf 2, and B is 0.
 */
import { partitionCount } from '../air/sensor-id.ts'
import type { LogMessage } from './log-message.ts'

type Message = Pick<LogMessage, 'leafVersion' | 'isMark'>

/** Where a partition's worker is. */
export type BorderStep =
  /** It writes for leaf 1. */
  | 'below'
  /** It must commit its mark, and nothing before that. */
  | 'mark'
  /** Its mark is in the log. It commits nothing until every partition has one. */
  | 'waiting'
  /** It writes for leaf 2. */
  | 'above'

export type AtBorder = {
  /** The instance's format level now. */
  readonly level: number
  /** The instance was new at level 3 or later. */
  readonly isBornAbove: boolean
  /** The leaf version of the last message in this partition's log; undefined: it has no message. */
  readonly own: LeafVersion | undefined
  /** Every partition is known to have a message of leaf version 2. */
  readonly isAllMarked: boolean
}

export type LeafVersion = 1 | 2

export const leafVersionOf = ({ leafVersion }: Message): LeafVersion => leafVersion ?? 1

/**
 * The format level (`schemas/format-level.ts`) from which on readings have leaf 2, batches and
 * contract are of version 2, and signatures of devices are checked.
 */
export const leaf2Level = 3

/** What the worker of a partition does next. It never goes back to an older leaf. */
export function borderStep({ level, isBornAbove, own, isAllMarked }: AtBorder): BorderStep {
  if (own === 2) return isBornAbove || isAllMarked ? 'above' : 'waiting'
  if (level < leaf2Level) return 'below'
  return isBornAbove ? 'above' : 'mark'
}

/** @param versions of the last message of each partition, where it is known */
export const areAllMarked = (versions: ReadonlyMap<number, LeafVersion>): boolean =>
  Array.from({ length: partitionCount }, (_, partition) => versions.get(partition)).every(
    (version) => version === 2,
  )

/** All readings in this message and in every one after it have leaf 2. */
export const isAboveBorder = (message: Message): boolean =>
  leafVersionOf(message) === 2 && message.isMark !== true

/**
 * B, as the log shows it.
 * @param messages of all partitions in the order of the log, from anywhere before the border
 * @returns the sequence of the last mark, 0 where there are no marks; undefined: all are below it
 */
export function findBorder(
  messages: Iterable<{ readonly seq: number; readonly message: Message }>,
): number | undefined {
  let lastMark = 0
  for (const { seq, message } of messages) {
    if (isAboveBorder(message)) return lastMark
    if (message.isMark === true) lastMark = seq
  }
  return undefined
}
