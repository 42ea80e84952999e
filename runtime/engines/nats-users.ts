/**
 * The part of a NATS server's configuration that says who may do what. Our own processes are users
 * of the server's file; whoever else comes is judged by the gate (auth callout), which lets a
 * sensor publish its own subject and nothing more.
 *
 * Permissions alone are not enough. A message names the subject that its answer goes to, the server
 * checks no permission for that, and what answers is JetStream, in the stream's account: from
 * within AIR each process could have acknowledgements, and messages that it wrote or read, put into
 * any stream or bucket. So each process is in an account of its own, which imports
 * AIR's: an import carries the answer back to where the question came from.
 */
import { inboxPrefixOf } from '../nats/own-inbox.ts'
import { allowedTo, answererOf, type ProcessUser, processUsers, rightsOf } from './nats-rights.ts'

/** Of the streams and buckets, of the operator, and of sensors that speak MQTT. */
export const airAccount = 'AIR'
/** Where sensors are that speak NATS themselves. MQTT needs streams in its account, and knows no reply subject. */
export const sensorsAccount = 'SENSORS'
/** Its name, the issuer and the users of `auth_callout` can only change when the server starts again. */
const calloutAccount = 'GATE'
const systemAccount = 'SYS'
const accountOf = (user: ProcessUser): string => `AIR_${user.toUpperCase()}`

/** Each process, and `operator`, the command line's, who may do everything. */
export const airUsers = [...processUsers, 'operator'] as const
/** The gate again: where sign-ins are judged, and where connections are listed and closed. */
const gateUsers = ['callout', 'system'] as const
export const ownUsers = [...airUsers, ...gateUsers] as const
export type OwnUser = (typeof ownUsers)[number]

export type UsersFile = {
  /** Public key of the account key that the gate signs its verdicts with. */
  readonly issuer: string
  readonly passwords: Readonly<Record<OwnUser, string>>
}

const toPartition = '"air.raw.*": "air.raw.{{partition(16,1)}}.{{wildcard(1)}}"'
const receipts = 'air.ack.*'

/**
 * Of each connection of a sensor: one for its answers and one for its receipts are enough. It is the
 * account's, as the server ignores `subs` in what the gate answers.
 */
const mostSensorSubscriptions = 50

/** How long a sign-in may take: in a storm of thousands the last ones wait for seconds. */
const signInSeconds = 10

/** What of AIR the processes' accounts import; which of it a process may use, its permissions say. */
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
]
/** Of these one question has several answers. */
const manyAnswers = ['$JS.API.CONSUMER.MSG.NEXT.>', '$JS.API.DIRECT.GET.>']

const list = (subjects: readonly string[]): string => JSON.stringify(subjects)
const lines = (found: readonly string[]): string => found.join('\n      ')
const importOf = (kind: 'service' | 'stream', account: string, subject: string): string =>
  `{ ${kind}: { account: ${account}, subject: ${JSON.stringify(subject)} } }`

function airAccountConf(operator: string): string {
  const accounts = `accounts: [${processUsers.map(accountOf).join(', ')}]`
  const exports = [
    `{ service: "air.raw.*.*", accounts: [${sensorsAccount}] }`,
    ...services.map((subject) => `{ service: "${subject}", ${accounts} }`),
    ...manyAnswers.map(
      (subject) => `{ service: "${subject}", response_type: stream, ${accounts} }`,
    ),
    // what the push consumers of a watched bucket deliver
    ...processUsers.map(
      (user) => `{ stream: "${inboxPrefixOf(user)}.>", accounts: [${accountOf(user)}] }`,
    ),
  ]
  const imports = processUsers.flatMap((user) =>
    (rightsOf[user].answers ?? []).map((subject) => importOf('service', accountOf(user), subject)),
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
  const { asks = [], answers = [], writes } = rightsOf[user]
  const others = [airAccount, ...processUsers.filter((other) => other !== user).map(accountOf)]
  const exports = [
    ...answers.map((subject) => `{ service: "${subject}", accounts: [${others.join(', ')}] }`),
    ...(writes.includes(receipts)
      ? [`{ stream: "${receipts}", accounts: [${sensorsAccount}] }`]
      : []),
  ]
  const imports = [
    ...[...services, ...manyAnswers].map((subject) => importOf('service', airAccount, subject)),
    ...asks.map((subject) => importOf('service', accountOf(answererOf(subject)), subject)),
    importOf('stream', airAccount, `${inboxPrefixOf(user)}.>`),
  ]
  const { publish, subscribe } = allowedTo(user)
  const permissions = `, permissions {
        publish: ${list(publish)}
        subscribe: ${list(subscribe)}${answers.length > 0 ? '\n        allow_responses: true' : ''}
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
 * Readings' subjects get their partition from the server itself, by the same hash as `partitionOf`
 * of `core/air/sensor-id.ts`.
 */
export function usersConf({ issuer, passwords }: UsersFile): string {
  const login =
    (name: OwnUser) =>
    (permissions: string): string =>
      `{ user: ${name}, password: ${JSON.stringify(passwords[name])}${permissions} }`
  const processes = processUsers.map((user) => processAccountConf(user, login(user)))
  return `\
system_account: ${systemAccount}
accounts {
${airAccountConf(login('operator')(''))}${processes.join('')}\
  ${sensorsAccount} {
    limits { max_subs: ${mostSensorSubscriptions} }
    mappings {
      ${toPartition}
      # an answer to one sensor that it would have sent to another as a receipt; true ones are imported
      "${receipts}": "nobody.{{wildcard(1)}}"
    }
    imports [
      { service: { account: ${airAccount}, subject: "air.raw.*.*" } }
      { stream: { account: ${accountOf('pipeline')}, subject: "${receipts}" } }
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
        publish: ["$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.SERVER.*.KICK"]
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
