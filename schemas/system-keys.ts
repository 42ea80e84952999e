/** Keys of the buckets `system` and `leases` that processes meet on, named once. */

/** KV `system`: what holds for the whole instance. */
export const systemKeys = {
  /** The level of the formats that are written: `format-level.ts`. */
  format: 'format',
  /** How many partitions the data have, and from level 2 on a word that 0.1 does not start with. */
  partitions: 'partitions',
  /** Which streams and buckets were made, as a hash of what they should be. */
  layout: 'layout',
  /** Where readings are kept. */
  store: 'store',
  /** Position of the statistics job, and what it still has to write. */
  rollup: 'rollup',
  /** Fingerprint of the key that seals webhooks and mails. */
  secretKey: 'secret-key',
} as const

/** One key per pipeline process: how far the store holds each partition. */
export const storedPrefix = 'stored.'
export const storedKey = (process: string): string => `${storedPrefix}${process}`

/** One key per reader: `{"readings": n}`, the oldest message of READINGS that it needs; null: none. */
export const neededPrefix = 'needed.'
export const neededKey = (reader: string): string => `${neededPrefix}${reader}`
export const neededByShard = (shard: number | '*'): string => neededKey(`notifier.${shard}`)

/** One key per account: what of its webhooks is changed one after the other. */
export const webhooksKey = (account: string): string => `webhooks.${account}`

/** KV `leases`: the shares of the work. */
export const partitionPrefix = 'partition.'
export const partitionLease = (partition: number | '*'): string => `${partitionPrefix}${partition}`
export const shardPrefix = 'shard.'
export const shardLease = (shard: number | '*'): string => `${shardPrefix}${shard}`

/** Tasks of which one process at a time does each. */
export const tasks = {
  rollUp: 'task.rollup',
  anchor: 'task.anchor',
  topics: 'task.topics',
  flood: 'gate.flood',
} as const

/** One key per live process, by the work that it shares; the rest of the key is its id. */
export const alivePrefixes = {
  pipeline: 'alive.',
  /** Its value says since when it runs, ISO. */
  anchor: 'anchor-alive.',
  notifier: 'notifier.',
  gate: 'gate.alive.',
  topics: 'alive-gate.',
} as const

/** One key per live process: the newest level that it knows, and what it is. */
export const levelPrefix = 'level.'
export const levelKey = (process: string, id: string): string => `${levelPrefix}${process}.${id}`
