/**
 * The version of the rules by which the quality of readings is decided (`pm-checks.ts`,
 * `unlike-neighbours.ts`, `sensor-level.ts`, and what a failed reading does not count in). Each message of the log says it, so
 * that a replay decides what was decided. Other rules take another version; a reader refuses one that
 * it does not know.
 */

/** What a message is decided by that has leaf 2. */
export const rulesNow = 1
/** 0: decided before there were rules. A reading that failed then counts everywhere. */
export type RulesVersion = 0 | typeof rulesNow
