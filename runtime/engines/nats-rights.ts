/**
 * What each of our processes may do on a NATS server that airproof's sensors sign in to; everything
 * else is denied. `usersConf` makes the server's configuration from it, and
 * `test/stack/gate-rights.test.ts` compares it with `docs/operations.md` and tries everything else.
 */
import { partitionCount } from '../../core/air/sensor-id.ts'
import { shardCount } from '../../core/delivery/webhook-id.ts'
import {
  accessSubject,
  ackSubject,
  askSubject,
  attemptsStream,
  auditStream,
  auditSubject,
  blobsStream,
  buckets,
  bulkSubject,
  commandLine,
  connectionsSubject,
  deniedSubject,
  eventSubjects,
  eventsStream,
  imageStream,
  imageSubjects,
  laneSubject,
  ledgerStream,
  mailStream,
  mailSubject,
  neighboursSubject,
  pauseSubject,
  rawStream,
  readingsStream,
  readingsSubjects,
  rejectedStream,
  requestsStream,
  spentSubject,
  stateStream,
  topicsStream,
} from '../../schemas/subjects.ts'
import {
  alivePrefixes,
  levelKey,
  neededByArchive,
  neededByShard,
  partitionLease,
  shardLease,
  storedPrefix,
  systemKeys,
  tasks,
  webhooksKey,
} from '../../schemas/system-keys.ts'
import { inboxPrefixOf } from '../nats/own-inbox.ts'
import { bucketStream } from '../nats/streams/stream-table.ts'

/** Each has an account of its own; only `operator`, the user of the command line, is in AIR. */
export const processUsers = [
  'pipeline',
  'anchor',
  'notifier',
  'archive',
  'api',
  'dashboard',
  'gate',
] as const
export type ProcessUser = (typeof processUsers)[number]

export type Rights = {
  /** Subjects it publishes into streams and buckets; or to sensors. */
  readonly writes: readonly string[]
  /** Streams it reads, by messages and by consumers of its own. */
  readonly reads: readonly string[]
  /** Streams whose messages it acknowledges, so that they are not delivered again. */
  readonly acknowledges?: readonly string[]
  /** Streams it trims. */
  readonly purges?: readonly string[]
  /** Streams it deletes single messages of. */
  readonly deletes?: readonly string[]
  /** Subjects of requests to another process. */
  readonly requests?: readonly string[]
  /** Subjects at which it responds to the other processes and the operator. */
  readonly responds?: readonly string[]
  /** Subjects at which it responds to gateways, which are in the account of sensors. */
  readonly serves?: readonly string[]
  /** Subjects between processes of its own kind. */
  readonly shares?: readonly string[]
}

const each = (count: number, name: (n: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, n) => name(n))
const raws = each(partitionCount, rawStream)
const ledgers = each(shardCount, ledgerStream)
const anyShard = askSubject('*')

const bucketStreams = (...names: (keyof typeof buckets)[]): readonly string[] =>
  names.map((name) => bucketStream(buckets[name]))
/** Subjects of a bucket's keys. */
const keys = (bucket: keyof typeof buckets, ...patterns: string[]): readonly string[] =>
  (patterns.length === 0 ? ['>'] : patterns).map((key) => `$KV.${buckets[bucket]}.${key}`)
const leases = (...patterns: string[]): readonly string[] => keys('leases', ...patterns)
/** Keys of a process about itself: that it is alive, and its format level. */
const alive = (work: keyof typeof alivePrefixes): string => `${alivePrefixes[work]}*`
const level = (process: string): string => levelKey(process, '*')

export const rightsOf: Readonly<Record<ProcessUser, Rights>> = {
  pipeline: {
    writes: [
      ...readingsSubjects,
      'air.state.*.*',
      'air.rejected.>',
      ...eventSubjects('*'),
      ackSubject('*'),
      ...keys('system', systemKeys.rollup, `${storedPrefix}>`, systemKeys.store),
      // by these entries it decides itself; the image of the credentials is the gate's, which alone may read them
      imageSubjects('sensors'),
      ...leases(partitionLease('*'), tasks.rollUp, tasks.neighbours, tasks.sensorList),
      ...leases(tasks.sensorsImage),
      ...leases(alive('pipeline'), level('pipeline')),
    ],
    reads: [
      ...raws,
      readingsStream,
      eventsStream,
      stateStream,
      imageStream('sensors'),
      ...bucketStreams('sensors', 'webhooks', 'system', 'leases'),
    ],
    // only the newest refusals per sensor are kept
    purges: [...raws, rejectedStream],
    shares: [neighboursSubject('*')],
  },
  anchor: {
    writes: [
      'air.blob.*.>',
      'air.events.anchored.*',
      ...keys('batches'),
      ...keys('proofs'),
      ...keys('anchoring'),
      ...leases(tasks.anchor, alive('anchor'), level('anchor')),
      // `anchor deploy` and `anchor resync` are its user too, and in the operators' log
      auditSubject(commandLine),
    ],
    reads: [
      readingsStream,
      eventsStream,
      stateStream,
      blobsStream,
      ...bucketStreams('batches', 'proofs', 'anchoring', 'system', 'leases'),
    ],
    purges: [readingsStream],
  },
  notifier: {
    writes: [
      'dw.*.wal',
      'dw.*.snap.*.*',
      'dw.*.man',
      'att.*',
      laneSubject('alert'),
      ...keys('webhooks'),
      ...keys('system', neededByShard('*')),
      ...leases(shardLease('*'), alive('notifier'), level('notifier')),
    ],
    reads: [
      ...ledgers,
      readingsStream,
      eventsStream,
      imageStream('sensors'),
      ...bucketStreams('sensors', 'accounts', 'webhooks', 'system', 'leases'),
    ],
    purges: ledgers,
    responds: [anyShard],
  },
  archive: {
    writes: [
      ...keys('system', systemKeys.archive, systemKeys.retention, neededByArchive),
      ...leases(tasks.archive, alive('archive'), level('archive')),
      // how long readings stay, which is one of its settings
      auditSubject(commandLine),
    ],
    reads: [
      readingsStream,
      blobsStream,
      ...bucketStreams('sensors', 'batches', 'proofs', 'anchoring', 'system', 'leases'),
    ],
    // leaves of batches that it has, where the operator says how long they stay
    purges: [blobsStream],
  },
  api: {
    writes: [
      laneSubject('alert'),
      'requests.*',
      ...keys('webhooks'),
      ...keys('quota'),
      ...keys('used'),
      ...keys('system', webhooksKey('*')),
      ...leases(level('api')),
    ],
    reads: [
      readingsStream,
      eventsStream,
      stateStream,
      blobsStream,
      attemptsStream,
      imageStream('sensors'),
      ...bucketStreams('sensors', 'accounts', 'keys', 'quota', 'used', 'webhooks'),
      ...bucketStreams('batches', 'proofs', 'anchoring', 'system'),
    ],
    requests: [anyShard],
  },
  dashboard: {
    writes: [
      // a refused message that is replayed
      'air.again.*.*',
      mailSubject,
      'audit.*',
      ...keys('accounts'),
      ...keys('emails'),
      ...keys('keys'),
      ...keys('passwords'),
      ...keys('sessions'),
      ...keys('tokens'),
      ...keys('quota'),
      ...keys('used'),
      ...keys('webhooks'),
      ...keys('sensors'),
      // it may remove a sensor's credential, but not read it
      ...keys('credentials', '*'),
      ...leases(level('dashboard')),
    ],
    reads: [
      ...raws,
      readingsStream,
      eventsStream,
      stateStream,
      rejectedStream,
      mailStream,
      auditStream,
      requestsStream,
      ...ledgers,
      imageStream('sensors'),
      ...bucketStreams('accounts', 'emails', 'keys', 'passwords', 'sessions', 'tokens'),
      ...bucketStreams('quota', 'used', 'webhooks', 'sensors'),
      ...bucketStreams('batches', 'anchoring', 'system', 'leases'),
    ],
    acknowledges: [mailStream],
    purges: [auditStream, requestsStream],
    deletes: [rejectedStream],
    // why a sensor is silent: without reading secrets' hashes
    requests: [anyShard, accessSubject('*'), connectionsSubject('*')],
  },
  gate: {
    writes: [
      'air.raw.*.*',
      ...keys('seen'),
      imageSubjects('credentials'),
      ...leases(tasks.flood, tasks.credentialsImage, tasks.topics),
      ...leases(alive('gate'), alive('topics'), level('gate')),
    ],
    reads: [
      topicsStream,
      imageStream('sensors'),
      imageStream('credentials'),
      ...bucketStreams('sensors', 'credentials', 'applications', 'seen', 'system', 'leases'),
    ],
    acknowledges: [topicsStream],
    responds: [accessSubject('*'), connectionsSubject('*'), deniedSubject('*')],
    serves: [bulkSubject('*')],
    shares: [pauseSubject('*'), spentSubject],
  },
}

/** The requests to JetStream that reading a stream needs. */
const readingStream = (stream: string): readonly string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  // flow control of a slow push consumer
  `$JS.FC.${stream}.>`,
]

/** Subjects of streams, of buckets and of JetStream itself that the process may publish to. */
const publishes = (user: ProcessUser): readonly string[] => {
  const { writes, reads, acknowledges = [], purges = [], deletes = [] } = rightsOf[user]
  return [
    '$JS.API.INFO',
    ...writes,
    ...reads.flatMap(readingStream),
    ...acknowledges.map((stream) => `$JS.ACK.${stream}.>`),
    ...purges.map((stream) => `$JS.API.STREAM.PURGE.${stream}`),
    ...deletes.map((stream) => `$JS.API.STREAM.MSG.DELETE.${stream}`),
  ]
}

/** The process that responds at the subject. */
export function responderOf(subject: string): ProcessUser {
  const responder = processUsers.find((user) => rightsOf[user].responds?.includes(subject))
  if (responder === undefined) throw new Error(`no process responds at ${subject}`)
  return responder
}

/** All subjects a process may publish and subscribe to; it may also respond to requests. */
export const allowedTo = (
  user: ProcessUser,
): { readonly publish: readonly string[]; readonly subscribe: readonly string[] } => {
  const { requests = [], responds = [], serves = [], shares = [] } = rightsOf[user]
  return {
    publish: [...publishes(user), ...requests, ...shares],
    subscribe: [`${inboxPrefixOf(user)}.>`, ...responds, ...serves, ...shares],
  }
}
