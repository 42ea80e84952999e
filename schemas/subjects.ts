/** Every subject, stream and bucket of the system, named once. */
import { partitionCount } from '../core/air/sensor-id.ts'
import { eventGroups, type LogEvent } from '../core/state/log-message.ts'

export const rawSubject = (partition: number, sensor: string): string =>
  `air.raw.${partition}.${sensor}`
/** Where a sensor publishes; the server's mapping adds the partition. */
export const spokenSubject = (sensor: string): string => `air.raw.${sensor}`
/**
 * What the operator replays into the same stream, an archive or refused messages. The bounds on a
 * sensor's late readings do not apply to it, so no sensor may publish here.
 */
export const againSubject = (partition: number, sensor: string): string =>
  `${againPrefix}${partition}.${sensor}`
export const againPrefix = 'air.again.'
export const rawStream = (partition: number): string => `RAW_${partition}`

export const readingsStream = 'READINGS'
export const readingsSubject = (partition: number | '*'): string => `air.readings.${partition}`
/** Those of the partitions: a message of READINGS on any other subject is foreign. */
export const readingsSubjects: readonly string[] = Array.from({ length: partitionCount }, (_, p) =>
  readingsSubject(p),
)
export const partitionOfReadings = (subject: string): number =>
  Number(subject.slice('air.readings.'.length))

export const eventsStream = 'EVENTS'
/** The copy of what the pipeline decided about a sensor. */
export const eventSubject = (kind: LogEvent['kind'], sensor: string): string =>
  `air.events.${eventGroups[kind]}.${sensor}`
/** All of a sensor's copies; `*` for every sensor. */
export const eventSubjects = (sensor: string): readonly string[] =>
  [...new Set(Object.values(eventGroups))].map((group) => `air.events.${group}.${sensor}`)

export const rejectedStream = 'REJECTED'
/** Version 0.1 left out the sensor; its messages can still be listed and replayed. */
export const rejectedSubject = (
  reason: string,
  partition: number,
  rawSeq: number,
  item: number,
  sensor: string,
): string => `air.rejected.${reason}.${sensorToken(sensor)}.${partition}.${rawSeq}.${item}`
/** All stored refusals of a sensor. */
export const rejectedOf = (sensor: string): string => `air.rejected.*.${sensorToken(sensor)}.>`
/** The sensor in a foreign message's subject may not be a valid token; all such share one. */
const sensorToken = (sensor: string): string => (isSensorToken(sensor) ? sensor : '_')
export const isSensorToken = (sensor: string): boolean => /^[\w-]{1,64}$/.test(sensor)

export const stateStream = 'STATE'
export const stateSubject = (partition: number, chunk: number): string =>
  `air.state.${partition}.${chunk}`

/** The ledger of a shard's deliveries: `wal` is the log, `snap` and `man` its snapshot. */
export const ledgerStream = (shard: number): string => `DW_${shard}`
export const walSubject = (shard: number): string => `dw.${shard}.wal`
/** @param walSeq the last message of the log that is in the snapshot */
export const ledgerSnapSubject = (shard: number, walSeq: number, chunk: number): string =>
  `dw.${shard}.snap.${walSeq}.${chunk}`
/** The manifest names the current snapshot. */
export const manifestSubject = (shard: number): string => `dw.${shard}.man`
/** Requests to the owner of a shard (`webhook-requests.ts`); not a stream. */
export const askSubject = (shard: number | '*'): string => `notifier.ask.${shard}`

export const attemptsStream = 'ATT'
export const attemptSubject = (webhook: string): string => `att.${webhook}`

/** Headers of a message of `wal`; those of the cursors are in `core/delivery/event-kinds.ts`. */
export const walHeaders = {
  worker: 'Dw-Worker',
  /** The message's number among those of its worker: identifies a publish that timed out but was stored. */
  write: 'Dw-Write',
} as const

/** The leaves of each batch (`batch-blob.ts`), written once; deleted as `retention.ts` says, else never. */
export const blobsStream = 'BLOBS'
/** The batch's header, and each tile's root and first leaf. */
export const blobTopSubject = (index: number): string => `air.blob.${index}.top`
/** 256 leaves, fewer in the last tile, in the order of the batch. */
export const blobTileSubject = (index: number, tile: number): string =>
  `air.blob.${index}.tile.${tile}`
export const blobsOfBatch = (index: number): string => `air.blob.${index}.>`

/** One message per batch, when its anchor is final (`batch-record.ts`). */
export const anchoredSubject = (index: number): string => `air.events.anchored.${index}`
export const anchoredSubjects = 'air.events.anchored.*'

/** Mails to be sent (`mail.ts`), deleted when they are sent. */
export const mailStream = 'MAIL'
/** Mails of every lane. */
export const mailSubject = 'mail.>'
/**
 * Each lane has its own space in the stream and its own sender, so that none evicts or delays
 * another's mails: `out` for mails that people wait for in front of a page, `notice` for changes of an
 * account, `alert` for its keys, quota and webhooks.
 */
export const mailLanes = ['out', 'notice', 'alert'] as const
export type MailLane = (typeof mailLanes)[number]
export const laneSubject = (lane: MailLane): string => `mail.${lane}`

/** What happened to an account's security: sign-ins, keys, passwords. */
export const auditStream = 'AUDIT'
export const auditSubject = (account: string): string => `audit.${account}`
/** In place of an account: the commands of operators. */
export const commandLine = 'cli'

/** The last requests of each account to `/v1` (`people/requests.ts`). */
export const requestsStream = 'REQUESTS'
export const requestsSubject = (account: string): string => `requests.${account}`

/** Receipts after a commit, for a sensor that requested them: its newest committed timestamp. */
export const ackSubject = (sensor: string): string => `air.ack.${sensor}`

/** Which sensors of a partition are unlike their neighbours (`log/neighbour-report.ts`); not a stream. */
export const neighboursSubject = (partition: number | '*'): string =>
  `${neighboursPrefix}${partition}`
const neighboursPrefix = 'pipeline.neighbours.'
export const partitionOfNeighbours = (subject: string): number =>
  Number(subject.slice(neighboursPrefix.length))

/** Requests of a gateway: readings of many sensors, answered as `POST /push/bulk` is. */
export const bulkSubject = (application: string): string => `${bulkPrefix}${application}`
export const bulkPrefix = 'air.bulk.'

/** Gates share here until when a sensor is refused, in ms since the epoch. */
export const pauseSubject = (sensor: string): string => `gate.pause.${sensor}`
/** Requests for a sensor's open connections (`schemas/devices/open-connection.ts`). */
export const connectionsSubject = (sensor: string): string => `gate.connections.${sensor}`
/** Requests for a sensor's key state and last contacts (`operate/sensor-access.ts`). */
export const accessSubject = (sensor: string): string => `gate.access.${sensor}`
/** Reports of what a server denied: JSON, sensor id → how often since the last report. */
export const deniedSubject = (server: string): string => `gate.denied.${server}`

/** Gates share here what sensors sent over HTTP: JSON, sensor id → messages. */
export const spentSubject = 'gate.spent'

/** Messages of devices that fix their own topics (`core/device-topics.ts`), until the gate has mapped them. */
export const topicsStream = 'TOPICS'

/** Headers of a READINGS message: what the next worker needs, without the body. */
export const logHeaders = {
  worker: 'Air-Worker',
  rawLast: 'Air-Raw-Last',
  rawLastTime: 'Air-Raw-Last-Time',
  nLast: 'Air-N-Last',
  count: 'Air-Count',
  lateTo: 'Air-Late-To',
  /** Sequence of the partition's previous message of the log; the fence's may be a foreign message. */
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

/** Buckets of which a process keeps an image (`bucket-image.ts`): the sensors', of which there may be a million. */
export const imagedBuckets = ['sensors', 'credentials'] as const
export type ImagedBucket = (typeof imagedBuckets)[number]
export const imageStream = (bucket: ImagedBucket): string => `IMAGE_${bucket}`
/** Names the image; written last. */
export const imageHeadSubject = (bucket: ImagedBucket): string => `air.image.${bucket}.head`
/** A new image is written beside the present one, so there are two places. */
export const imagePieceSubject = (bucket: ImagedBucket, place: number, piece: number): string =>
  `air.image.${bucket}.${place}.${piece}`
export const imageSubjects = (bucket: ImagedBucket): string => `air.image.${bucket}.>`

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
  /** account id → how its password is checked; read only by the dashboard */
  passwords: 'passwords',
  /** sha256 of a session's token, hex → the session */
  sessions: 'sessions',
  /** sha256 of a link's token, hex → what the link does, once */
  tokens: 'tokens',
  /** `<UTC day>.<account id>`, `<UTC day>.<account id>.<key id>` → requests charged on that day */
  quota: 'quota',
  /** key id → when it was last used */
  used: 'used',
  /** sensor id → how its credential is checked; read only by the gate */
  credentials: 'credentials',
  /** LoRaWAN application id → `application` schema, with how its credential is checked */
  applications: 'applications',
  /** sensor id → when and from where it was last connected, and its refusals */
  seen: 'seen',
  /** webhook id → `webhook` schema; the pipeline reads its thresholds */
  webhooks: 'webhooks',
  /** sealed batches and their state on the chain; keys and values in `batch-record.ts` */
  batches: 'batches',
  /** batch index → the chain's part of its proof bundles (`core/proof/bundle.ts`), as JSON */
  proofs: 'proofs',
  /** the sender's journal; private to the anchor process (`anchor/send/journal.ts`), except `deployment` */
  anchoring: 'anchoring',
  /** partition or task → holder, with a TTL */
  leases: 'leases',
  /** values for the whole instance; its keys and those of `leases` are in `system-keys.ts` */
  system: 'system',
} as const
