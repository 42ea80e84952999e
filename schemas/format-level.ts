/**
 * What the processes of an instance write on disk and to one another. A number in KV `system`
 * says it, so that a cluster can be upgraded process by process: a new process writes the former
 * formats until every process that runs knows the newest (`airproof upgrade`). Whatever was ever
 * written is read at every level.
 *
 * | level | since | what it brings |
 * |---|---|---|
 * | 1 | 0.1 | the formats of 0.1 |
 * | 2 | 0.2 | READINGS version 2: values as a list, with every quantity; wider snapshots |
 * | 3 | 0.2 | READINGS version 3: readings with leaf 2, and signatures of devices; batches of version 2 |
 */
export type FormatLevel = 1 | 2 | 3

/** The highest level that this version knows. */
export const newestLevel: FormatLevel = 3
