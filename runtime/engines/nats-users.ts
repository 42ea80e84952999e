/**
 * The part of a NATS server's configuration that holds users and their permissions. Our own
 * processes are users of the server's file; the gate judges every other client (auth callout), and
 * lets a sensor publish only to its own subject.
 *
 * Permissions are not enough. A message names the subject of its reply, the server checks no
 * permission for that, and it is JetStream that replies, in the stream's account: from within AIR
 * each process could direct acknowledgements, and messages that it wrote or read, into any stream
 * or bucket. So each process is in an account of its own, which imports AIR's: an import carries
 * the reply only back to the requester.
 */
import { inboxPrefixOf } from '../nats/own-inbox.ts'
import { allowedTo, type ProcessUser, processUsers, responderOf, rightsOf } from './nats-rights.ts'

/** The account of the streams and buckets, the operator, and sensors over MQTT. */
export const airAccount = 'AIR'
/** The account of sensors over NATS. MQTT needs streams in its account, and has no reply subjects. */
export const sensorsAccount = 'SENSORS'
/** Its name, the issuer and the users of `auth_callout` can only change when the server restarts. */
const calloutAccount = 'GATE'
const systemAccount = 'SYS'
const accountOf = (user: ProcessUser): string => `AIR_${user.toUpperCase()}`

/** Each process, and `operator`, the user of the command line, which may do everything. */
export const airUsers = [...processUsers, 'operator'] as const
/** Two more users of the gate: one judges sign-ins, one lists and closes connections. */
const gateUsers = ['callout', 'system'] as const
export const ownUsers = [...airUsers, ...gateUsers] as const
export type OwnUser = (typeof ownUsers)[number]
/** Whether a client of that name is a process of ours, or the operator. */
export const isOwnUser = (name: string): boolean => ownUsers.some((own) => own === name)

export type UsersFile = {
  /** Public part of the account key with which the gate signs its verdicts. */
  readonly issuer: string
  readonly passwords: Readonly<Record<OwnUser, string>>
}

const toPartition = '"air.raw.*": "air.raw.{{partition(16,1)}}.{{wildcard(1)}}"'
const receipts = 'air.ack.*'

/**
 * Per connection of a sensor: one for its replies and one for its receipts are enough. It is a limit
 * of the account, as the server ignores `subs` in the gate's response.
 */
const mostSensorSubscriptions = 50

/** How long a sign-in may take: in a storm of thousands the last ones wait for seconds. */
const signInSeconds = 10

/** What the processes' accounts import from AIR; its permissions limit what a process may use. */
const services = [
  '$JS.API.INFO',
  '$JS.API.STREAM.>',
  '$JS.API.CONSUMER.CREATE.>',
  '$JS.API.CONSUMER.INFO.>',
  '$JS.API.CONSUMER.DELETE.>',
  '$JS.ACK.>',
  '$JS.FC.>',
  '$KV.>',
  'air.>',
  'dw.>',
  'att.*',
  'mail.*',
  'audit.*',
  'requests.*',
]
/** A request to one of these has several replies. */
const manyReplies = ['$JS.API.CONSUMER.MSG.NEXT.>', '$JS.API.DIRECT.GET.>']

const list = (subjects: readonly string[]): string => JSON.stringify(subjects)
const lines = (entries: readonly string[]): string => entries.join('\n      ')
const importOf = (kind: 'service' | 'stream', account: string, subject: string): string =>
  `{ ${kind}: { account: ${account}, subject: ${JSON.stringify(subject)} } }`

/** What gateways may request, of each process that serves them. */
const servedToSensors = processUsers.flatMap((user) =>
  (rightsOf[user].serves ?? []).map((subject) => importOf('service', accountOf(user), subject)),
)

function airAccountConf(operator: string): string {
  const accounts = `accounts: [${processUsers.map(accountOf).join(', ')}]`
  const exports = [
    `{ service: "air.raw.*.*", accounts: [${sensorsAccount}] }`,
    ...services.map((subject) => `{ service: "${subject}", ${accounts} }`),
    ...manyReplies.map(
      (subject) => `{ service: "${subject}", response_type: stream, ${accounts} }`,
    ),
    // what the push consumers of a watched bucket deliver
    ...processUsers.map(
      (user) => `{ stream: "${inboxPrefixOf(user)}.>", accounts: [${accountOf(user)}] }`,
    ),
  ]
  const imports = processUsers.flatMap((user) =>
    (rightsOf[user].responds ?? []).map((subject) => importOf('service', accountOf(user), subject)),
  )
  return `\
  ${airAccount} {
    jetstream: enabled
    mappings {
      ${toPartition}
    }
    exports [
      ${lines(exports)}
    ]
    imports [
      ${lines(imports)}
    ]
    users [
      ${operator}
    ]
  }
`
}

function processAccountConf(user: ProcessUser, login: (permissions: string) => string): string {
  const { requests = [], responds = [], serves = [], writes } = rightsOf[user]
  const others = [airAccount, ...processUsers.filter((other) => other !== user).map(accountOf)]
  const exports = [
    ...responds.map((subject) => `{ service: "${subject}", accounts: [${others.join(', ')}] }`),
    ...serves.map((subject) => `{ service: "${subject}", accounts: [${sensorsAccount}] }`),
    ...(writes.includes(receipts)
      ? [`{ stream: "${receipts}", accounts: [${sensorsAccount}] }`]
      : []),
  ]
  const imports = [
    ...[...services, ...manyReplies].map((subject) => importOf('service', airAccount, subject)),
    ...requests.map((subject) => importOf('service', accountOf(responderOf(subject)), subject)),
    importOf('stream', airAccount, `${inboxPrefixOf(user)}.>`),
  ]
  const { publish, subscribe } = allowedTo(user)
  const permissions = `, permissions {
        publish: ${list(publish)}
        subscribe: ${list(subscribe)}${responds.length > 0 ? '\n        allow_responses: true' : ''}
      }`
  return `\
  ${accountOf(user)} {
    mappings {
      ${toPartition}
    }
    exports [
      ${lines(exports)}
    ]
    imports [
      ${lines(imports)}
    ]
    users [
      ${login(permissions)}
    ]
  }
`
}

/**
 * A server names its issuer with this tag in each question to the gate, which may have two seeds for a
 * while. Tags are compared in lower case.
 */
export const issuerTag = (issuer: string): string => `airproof-issuer:${issuer.toLowerCase()}`

/**
 * The server itself adds the partition to the subjects of readings, by the same hash as
 * `partitionOf` in `core/air/sensor-id.ts`.
 */
export function usersConf({ issuer, passwords }: UsersFile): string {
  const login =
    (name: OwnUser) =>
    (permissions: string): string =>
      `{ user: ${name}, password: ${JSON.stringify(passwords[name])}${permissions} }`
  const processes = processUsers.map((user) => processAccountConf(user, login(user)))
  return `\
server_tags: [${JSON.stringify(issuerTag(issuer))}]
system_account: ${systemAccount}
accounts {
${airAccountConf(login('operator')(''))}${processes.join('')}\
  ${sensorsAccount} {
    limits { max_subs: ${mostSensorSubscriptions} }
    mappings {
      ${toPartition}
      # a reply that a sensor directs to another as a forged receipt; real receipts are imported
      "${receipts}": "nobody.{{wildcard(1)}}"
    }
    imports [
      { service: { account: ${airAccount}, subject: "air.raw.*.*" } }
      { stream: { account: ${accountOf('pipeline')}, subject: "${receipts}" } }
      ${lines(servedToSensors)}
    ]
  }
  ${calloutAccount} {
    users [
      ${login('callout')(`, permissions {
        publish { deny: ">" }
        subscribe: ["$SYS.REQ.USER.AUTH gate", "$SYS.ACCOUNT.CLIENT.AUTH.ERR"]
        allow_responses: true
      }`)}
    ]
  }
  ${systemAccount} {
    users [
      ${login('system')(`, permissions {
        publish: ["$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.SERVER.PING.JSZ", "$SYS.REQ.SERVER.*.KICK", "$SYS.REQ.SERVER.*.RELOAD"]
        subscribe: ["${inboxPrefixOf('system')}.>", "$SYS.ACCOUNT.*.DISCONNECT"]
      }`)}
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
