/**
 * Who may do what on a NATS server that airproof's sensors sign in to. Our own processes are users
 * of the server's file; whoever else comes is judged by the gate (auth callout), which lets a
 * sensor publish its own subject and nothing more.
 */
import { buckets } from '../../schemas/subjects.ts'

export const airAccount = 'AIR'
/**
 * Where sensors are that speak NATS themselves. A message's reply subject is not checked by the
 * server, and a stream's acknowledgement goes to it in the stream's account: in AIR a sensor could
 * have it written into any other stream or bucket. Here it reaches nothing but sensors. MQTT knows
 * no reply subject, so who speaks it is in AIR itself.
 */
export const sensorsAccount = 'SENSORS'
export const calloutAccount = 'GATE'
export const systemAccount = 'SYS'

/** Of account AIR: each process, and `operator`, the command line's. */
export const airUsers = [
  'pipeline',
  'anchor',
  'notifier',
  'api',
  'dashboard',
  'gate',
  'operator',
] as const
/** The gate again: where sign-ins are judged, and where connections are listed and closed. */
const gateUsers = ['callout', 'system'] as const
export const ownUsers = [...airUsers, ...gateUsers] as const

type AirUser = (typeof airUsers)[number]
export type OwnUser = (typeof ownUsers)[number]

/** Who writes what: everybody else is denied it, but for the operator. */
const writers: Readonly<Record<string, readonly AirUser[]>> = {
  'air.raw.>': ['gate'],
  'air.again.>': ['dashboard'],
  'air.readings.>': ['pipeline'],
  'air.state.>': ['pipeline'],
  'air.rejected.>': ['pipeline'],
  'air.events.rise.>': ['pipeline'],
  'air.events.presence.>': ['pipeline'],
  'air.events.anchored.>': ['anchor'],
  'air.ack.>': ['pipeline'],
  'air.blob.>': ['anchor'],
  'dw.*.wal': ['notifier'],
  'dw.*.snap.>': ['notifier'],
  'dw.*.man': ['notifier'],
  'att.>': ['notifier'],
  'gate.pause.>': ['gate'],
  '$JS.API.STREAM.DELETE.>': [],
  '$JS.API.STREAM.UPDATE.>': [],
  '$JS.API.STREAM.RESTORE.>': [],
}

/** Who sees what opens doors, by bucket: everybody else can neither read nor write it. */
const secretBuckets: Readonly<Record<string, readonly AirUser[]>> = {
  [buckets.credentials]: ['gate', 'dashboard'],
  [buckets.applications]: ['gate'],
  [buckets.keys]: ['api', 'dashboard'],
  [buckets.passwords]: ['dashboard'],
  [buckets.sessions]: ['dashboard'],
  [buckets.tokens]: ['dashboard'],
}

const waysInto = (bucket: string): readonly string[] => [
  `$KV.${bucket}.>`,
  `$JS.API.DIRECT.GET.KV_${bucket}`,
  `$JS.API.DIRECT.GET.KV_${bucket}.>`,
  `$JS.API.STREAM.MSG.GET.KV_${bucket}`,
  `$JS.API.STREAM.MSG.DELETE.KV_${bucket}`,
  `$JS.API.STREAM.PURGE.KV_${bucket}`,
  `$JS.API.STREAM.SNAPSHOT.KV_${bucket}`,
  `$JS.API.CONSUMER.CREATE.KV_${bucket}`,
  `$JS.API.CONSUMER.CREATE.KV_${bucket}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.KV_${bucket}.>`,
]

/** Subjects that the user may not publish. */
export function deniedTo(user: AirUser): readonly string[] {
  if (user === 'operator') return []
  const mayNot = (whose: Readonly<Record<string, readonly AirUser[]>>): string[] =>
    Object.entries(whose).flatMap(([what, who]) => (who.includes(user) ? [] : [what]))
  return [...mayNot(writers), ...mayNot(secretBuckets).flatMap(waysInto)]
}

export type UsersFile = {
  /** Public key of the account key that the gate signs its verdicts with. */
  readonly issuer: string
  readonly passwords: Readonly<Record<OwnUser, string>>
}

const toPartition = '"air.raw.*": "air.raw.{{partition(16,1)}}.{{wildcard(1)}}"'

/**
 * Of each connection of a sensor: one for its answers and one for its receipts are enough. It is the
 * account's, as the server ignores `subs` in what the gate answers.
 */
const mostSensorSubscriptions = 50

/** How long a sign-in may take: in a storm of thousands the last ones wait for seconds. */
const signInSeconds = 10

/**
 * The part of the server's configuration that says who may do what. Readings' subjects get their
 * partition from the server itself, by the same hash as `partitionOf` of `core/sensor-id.ts`.
 */
export function usersConf({ issuer, passwords }: UsersFile): string {
  const user = (name: OwnUser, permissions: string): string =>
    `{ user: ${name}, password: ${JSON.stringify(passwords[name])}${permissions} }`
  const air = airUsers.map((name) => {
    const denied = deniedTo(name)
    if (denied.length === 0) return user(name, '')
    return user(name, `, permissions { publish { deny: ${JSON.stringify(denied)} } }`)
  })
  return `\
system_account: ${systemAccount}
accounts {
  ${airAccount} {
    jetstream: enabled
    mappings {
      ${toPartition}
    }
    exports [
      { service: "air.raw.*.*", accounts: [${sensorsAccount}] }
      { stream: "air.ack.*", accounts: [${sensorsAccount}] }
    ]
    users [
      ${air.join('\n      ')}
    ]
  }
  ${sensorsAccount} {
    limits { max_subs: ${mostSensorSubscriptions} }
    mappings {
      ${toPartition}
      # an answer to one sensor that it would have sent to another as a receipt; true ones are imported
      "air.ack.*": "nobody.{{wildcard(1)}}"
    }
    imports [
      { service: { account: ${airAccount}, subject: "air.raw.*.*" } }
      { stream: { account: ${airAccount}, subject: "air.ack.*" } }
    ]
  }
  ${calloutAccount} {
    users [
      ${user(
        'callout',
        `, permissions {
        publish { deny: ">" }
        subscribe: ["$SYS.REQ.USER.AUTH gate", "$SYS.ACCOUNT.CLIENT.AUTH.ERR"]
        allow_responses: true
      }`,
      )}
    ]
  }
  ${systemAccount} {
    users [
      ${user(
        'system',
        `, permissions {
        publish: ["$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.SERVER.*.KICK"]
        subscribe: ["_INBOX.>", "$SYS.ACCOUNT.*.DISCONNECT"]
      }`,
      )}
    ]
  }
}
authorization {
  timeout: ${signInSeconds}
  auth_callout {
    issuer: ${issuer}
    account: ${calloutAccount}
    auth_users: ${JSON.stringify(ownUsers)}
  }
}
`
}
