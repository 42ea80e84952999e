/** Every subject, stream and bucket of the system, named once. */
import { partitionCount } from '../core/air/sensor-id.ts'

export const rawSubject = (partition: number, sensor: string): string =>
  `air.raw.${partition}.${sensor}`
/** What a sensor says; the server's mapping adds the partition. */
export const spokenSubject = (sensor: string): string => `air.raw.${sensor}`
/**
 * What the operator sends again, an archive or what was refused, into the same stream. The bounds on
 * what a sensor may say of the past do not hold for it, so no sensor may publish here.
 */
export const againSubject = (partition: number, sensor: string): string =>
  `${againPrefix}${partition}.${sensor}`
export const againPrefix = 'air.again.'
export const rawStream = (partition: number): string => `RAW_${partition}`

export const readingsStream = 'READINGS'
export const readingsSubject = (partition: number | '*'): string => `air.readings.${partition}`
/** Of the partitions: a message of READINGS beside them is foreign. */
export const readingsSubjects: readonly string[] = Array.from({ length: partitionCount }, (_, p) =>
  readingsSubject(p),
)
export const partitionOfReadings = (subject: string): number =>
  Number(subject.slice('air.readings.'.length))

export const eventsStream = 'EVENTS'
export const riseSubject = (sensor: string): string => `air.events.rise.${sensor}`
export const presenceSubject = (sensor: string): string => `air.events.presence.${sensor}`

export const rejectedStream = 'REJECTED'
/** Version 0.1 left the sensor out; what it kept is still listed and sent again. */
export const rejectedSubject = (
  reason: string,
  partition: number,
  rawSeq: number,
  item: number,
  sensor: string,
): string => `air.rejected.${reason}.${sensorToken(sensor)}.${partition}.${rawSeq}.${item}`
/** All that is kept of a sensor. */
export const rejectedOf = (sensor: string): string => `air.rejected.*.${sensorToken(sensor)}.>`
/** What a stranger's subject named may be no token of ours; these share one. */
const sensorToken = (sensor: string): string => (isSensorToken(sensor) ? sensor : '_')
export const isSensorToken = (sensor: string): boolean => /^[\w-]{1,64}$/.test(sensor)

export const stateStream = 'STATE'
export const stateSubject = (partition: number, chunk: number): string =>
  `air.state.${partition}.${chunk}`

/** The ledger of a shard's deliveries: `wal` is the log, `snap` and `man` its snapshot. */
export const ledgerStream = (shard: number): string => `DW_${shard}`
export const walSubject = (shard: number): string => `dw.${shard}.wal`
/** @param walSeq the message of the log that the snapshot holds everything up to */
export const ledgerSnapSubject = (shard: number, walSeq: number, chunk: number): string =>
  `dw.${shard}.snap.${walSeq}.${chunk}`
/** The manifest names the snapshot that counts. */
export const manifestSubject = (shard: number): string => `dw.${shard}.man`
/** Where the owner of a shard is asked (`webhook-requests.ts`); no stream. */
export const askSubject = (shard: number | '*'): string => `notifier.ask.${shard}`

export const attemptsStream = 'ATT'
export const attemptSubject = (webhook: string): string => `att.${webhook}`

/** Headers of a message of `wal`; those of the cursors are in `core/delivery/event-kinds.ts`. */
export const walHeaders = {
  worker: 'Dw-Worker',
  /** Which message of its worker's this is: tells a publish that timed out and landed. */
  write: 'Dw-Write',
} as const

/** What was anchored, for good: the leaves of each batch (`batch-blob.ts`), written once. */
export const blobsStream = 'BLOBS'
/** The batch's header, and for each tile its root and its first leaf. */
export const blobTopSubject = (index: number): string => `air.blob.${index}.top`
/** 256 leaves, or what is left of them, in the order of the batch. */
export const blobTileSubject = (index: number, tile: number): string =>
  `air.blob.${index}.tile.${tile}`

/** One message a batch, when its anchor is final (`batch-record.ts`). */
export const anchoredSubject = (index: number): string => `air.events.anchored.${index}`
export const anchoredSubjects = 'air.events.anchored.*'

/** Mails to be sent (`mail.ts`), gone when they are. */
export const mailStream = 'MAIL'
/** Mails of every lane. */
export const mailSubject = 'mail.>'
/**
 * Each lane has its own room in the stream and its own sender, so that one neither pushes out nor
 * delays another: `out` is what people wait for in front of a page, `notice` tells them of a change,
 * `alert` of their keys, requests and webhooks.
 */
export const mailLanes = ['out', 'notice', 'alert'] as const
export type MailLane = (typeof mailLanes)[number]
export const laneSubject = (lane: MailLane): string => `mail.${lane}`

/** What happened to an account's security: sign-ins, keys, passwords. */
export const auditStream = 'AUDIT'
export const auditSubject = (account: string): string => `audit.${account}`

/** What a sensor that asked for receipts is told after a commit: its newest committed timestamp. */
export const ackSubject = (sensor: string): string => `air.ack.${sensor}`

/** Where a gate tells the others until when a sensor is not let in, in ms since the epoch. */
export const pauseSubject = (sensor: string): string => `gate.pause.${sensor}`
/** Where a gate is asked for a sensor's open connections (`schemas/devices/open-connection.ts`). */
export const connectionsSubject = (sensor: string): string => `gate.connections.${sensor}`
/** Where a gate is told what a server denied: JSON, sensor id → how often since the last time. */
export const deniedSubject = (server: string): string => `gate.denied.${server}`

/** Where gates tell one another what sensors sent over HTTP: JSON, sensor id → messages. */
export const spentSubject = 'gate.spent'

/** What devices that fix their own topics said (`core/device-topics.ts`), until the gate mapped it. */
export const topicsStream = 'TOPICS'

/** Headers of a READINGS message: what the next worker needs without reading the body. */
export const logHeaders = {
  worker: 'Air-Worker',
  rawLast: 'Air-Raw-Last',
  rawLastTime: 'Air-Raw-Last-Time',
  nLast: 'Air-N-Last',
  count: 'Air-Count',
  lateTo: 'Air-Late-To',
  /** Sequence of the partition's message before this one; the fence's may be a foreign message. */
  former: 'Air-Former',
} as const

/** Headers of a REJECTED message; its body is the first 64 KiB of what came in. */
export const rejectedHeaders = {
  sensor: 'Air-Sensor',
  why: 'Air-Why',
  arrived: 'Air-Arrived',
  length: 'Air-Length',
  sha256: 'Air-Sha256',
} as const

/** KV buckets. */
export const buckets = {
  /** sensor id → `sensor` schema */
  sensors: 'sensors',
  /** account id → `account` schema */
  accounts: 'accounts',
  /** sha256 of the e-mail address, hex → account id */
  emails: 'emails',
  /** sha256 of the key, hex → `key` schema */
  keys: 'keys',
  /** account id → how its password is checked; read by the dashboard alone */
  passwords: 'passwords',
  /** sha256 of a session's token, hex → the session */
  sessions: 'sessions',
  /** sha256 of a link's token, hex → what the link does, once */
  tokens: 'tokens',
  /** `<UTC day>.<account id>` → requests charged on that day */
  quota: 'quota',
  /** key id → when it was last used */
  used: 'used',
  /** sensor id → how its credential is checked; read by the gate alone */
  credentials: 'credentials',
  /** LoRaWAN application id → `application` schema, with how its credential is checked */
  applications: 'applications',
  /** sensor id → when and from where it was last connected, and what was refused of it */
  seen: 'seen',
  /** webhook id → `webhook` schema; the pipeline reads its thresholds */
  webhooks: 'webhooks',
  /** what is sealed and how it stands on the chain; keys and values in `batch-record.ts` */
  batches: 'batches',
  /** batch index → the chain's part of its proof bundles (`core/proof/bundle.ts`), as JSON */
  proofs: 'proofs',
  /** the sender's journal; the anchor process's own (`anchor/send/journal.ts`), but for `deployment` */
  anchoring: 'anchoring',
  /** partition or task → holder, with a TTL */
  leases: 'leases',
  /** what holds for the whole instance; its keys and those of `leases` are in `system-keys.ts` */
  system: 'system',
} as const
