/**
 * The version of a message of a shard's ledger, and of a snapshot: the lowest format level that has
 * all that is in it. One that names no version is of 0.1.
 *
 * | version | since | what it brings |
 * |---|---|---|
 * | 1 | 0.1 | sources `events` and `readings` |
 * | 2 | 0.2 | source `anchored`, and a version that is named |
 */
import {
  type Cursors,
  levelOfSource,
  mapSources,
  sourceNames,
} from '../../core/delivery/delivery.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'

export type LedgerVersion = 1 | 2

/** Which version cursors and records take, each of the level given. */
export const versionOf = (cursors: Cursors, ofRecords: LedgerVersion): LedgerVersion =>
  sourceNames.some((source) => cursors[source] !== undefined && levelOfSource(source) > ofRecords)
    ? 2
    : ofRecords

/**
 * Cursors by the names under which they are written. Version 1 has 0 for a source that no webhook
 * wants; one that is wanted and has nothing yet is 0 too, and begins again.
 */
export const writtenCursors = (
  cursors: Cursors,
  nameOf: (source: keyof Cursors) => string,
): [name: string, cursor: number][] =>
  sourceNames
    .filter((source) => cursors[source] !== undefined || levelOfSource(source) === 1)
    .map((source) => [nameOf(source), cursors[source] ?? 0])

/** @param read what is written under a source's name; undefined: nothing is */
export const readCursors = (read: (source: keyof Cursors) => number | undefined): Cursors =>
  mapSources((source) => read(source) || (sourceRows[source].isAlwaysFollowed ? 0 : undefined))

/** Of a ledger that has none. */
export const noCursors: Cursors = readCursors(() => undefined)
