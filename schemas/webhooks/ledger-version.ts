/**
 * The version of a message of a shard's ledger, and of a snapshot: the lowest format level that has
 * everything in it. One without a version is of 0.1.
 *
 * | version | since | adds |
 * |---|---|---|
 * | 1 | 0.1 | sources `events` and `readings` |
 * | 2 | 0.2 | source `anchored`, and an explicit version |
 */
import {
  type Cursors,
  levelOfSource,
  mapSources,
  sourceNames,
} from '../../core/delivery/delivery.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'
import type { FormatLevel } from '../format-level.ts'

/** The version that cursors and records need. @param ofRecords the highest level among the records */
export const versionOf = (cursors: Cursors, ofRecords: FormatLevel): FormatLevel =>
  sourceNames.some((source) => cursors[source] !== undefined && levelOfSource(source) > ofRecords)
    ? 2
    : ofRecords

/**
 * Cursors by the names under which they are written. Version 1 has 0 for a source that no webhook
 * subscribes to; a source that is followed but has nothing yet is 0 too, and starts again.
 */
export const writtenCursors = (
  cursors: Cursors,
  nameOf: (source: keyof Cursors) => string,
): [name: string, cursor: number][] =>
  sourceNames
    .filter((source) => cursors[source] !== undefined || levelOfSource(source) === 1)
    .map((source) => [nameOf(source), cursors[source] ?? 0])

/** @param read the value under a source's name; undefined: there is none */
export const readCursors = (read: (source: keyof Cursors) => number | undefined): Cursors =>
  mapSources((source) => read(source) || (sourceRows[source].isAlwaysFollowed ? 0 : undefined))

/** For a new ledger. */
export const noCursors: Cursors = readCursors(() => undefined)
