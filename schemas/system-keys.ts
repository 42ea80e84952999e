/** Keys of the buckets `system` and `leases` that processes share, named once. */

/** KV `system`: values for the whole instance. */
export const systemKeys = {
  /** The level of the formats that are written: `format-level.ts`. */
  format: 'format',
  /** How many partitions the data have, and from level 2 on a text that stops 0.1 from starting. */
  partitions: 'partitions',
  /** The table of streams and buckets that was applied: its number and hash. */
  layout: 'layout',
  /** The id of the network, made with the instance and never changed: `log/log-cursor.ts`. */
  network: 'network',
  /** Where readings are stored. */
  store: 'store',
  /** What was copied to which other store: `operate/store-copy.ts`. */
  storeCopy: 'store-copy',
  /** Position of the statistics job, and what it still has to write. */
  rollup: 'rollup',
  /** Fingerprint of the key that seals webhooks and mails. */
  secretKey: 'secret-key',
  /** How far the archive goes, and what keeps it from going on. */
  archive: 'archive',
  /** What may be gone from the store and from BLOBS, because the archive has it: `retention.ts`. */
  retention: 'retention',
} as const

/** One key per pipeline process: how far the store holds each partition. */
export const storedPrefix = 'stored.'
export const storedKey = (process: string): string => `${storedPrefix}${process}`

/** One key per reader: `{"readings": n}`, the oldest message of READINGS that it needs; null: none. */
export const neededPrefix = 'needed.'
export const neededKey = (reader: string): string => `${neededPrefix}${reader}`
export const neededByArchive = neededKey('archive')
export const neededByStoreCopy = neededKey('store-copy')
export const neededByShard = (shard: number | '*'): string => neededKey(`notifier.${shard}`)

/** One key per account: what of its webhooks is changed one after the other. */
export const webhooksKey = (account: string): string => `webhooks.${account}`

/** KV `leases`: shares of the work. */
export const partitionPrefix = 'partition.'
export const partitionLease = (partition: number | '*'): string => `${partitionPrefix}${partition}`
export const shardPrefix = 'shard.'
export const shardLease = (shard: number | '*'): string => `${shardPrefix}${shard}`

/** Tasks that one process at a time does. */
export const tasks = {
  rollUp: 'task.rollup',
  neighbours: 'task.neighbours',
  sensorList: 'task.sensors',
  anchor: 'task.anchor',
  topics: 'task.topics',
  archive: 'task.archive',
  flood: 'gate.flood',
  sensorsImage: 'task.image',
  credentialsImage: 'gate.image',
} as const

/** One key per live process, by the work that it shares; the rest of the key is its id. */
export const alivePrefixes = {
  pipeline: 'alive.',
  /** Its value is the time when the process started, ISO. */
  anchor: 'anchor-alive.',
  notifier: 'notifier.',
  gate: 'gate.alive.',
  topics: 'alive-gate.',
  archive: 'archive-alive.',
} as const

/** One key per live process: its `LevelReport`. */
export const levelPrefix = 'level.'
export const levelKey = (process: string, id: string): string => `${levelPrefix}${process}.${id}`
