/**
 * The servers' open connections, as their system account reports them: looked up by sensor, listed
 * page by page, and closed.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { airAccount, sensorsAccount } from '../../runtime/engines/nats-users.ts'
import type { InputGuard } from '../input-guard.ts'

export type Connection = {
  readonly serverId: string
  /** The server's number for it. */
  readonly cid: number
  readonly user: string
  readonly protocol: 'nats' | 'mqtt' | 'websocket'
  readonly address: string
  readonly client: string | undefined
  /** Messages that came in on it, those denied among them. */
  readonly messages: number
  /** Of their bodies. */
  readonly bytes: number
  /** How long it has been open. */
  readonly ageMs: number
  /** ISO 8601. */
  readonly since: string
  readonly lastActivity: string
}

/** What a connection had sent when it ended. */
export type Ended = Pick<
  Connection,
  'serverId' | 'cid' | 'user' | 'messages' | 'bytes' | 'ageMs'
> & {
  readonly reason: string
}

export type Connections = {
  /** Of a sensor, on every server, as the answers arrive. */
  readonly of: (user: string) => AsyncIterable<Connection>
  /** All of them: one list per server, at most `pageSize` of each, from `offset` on. */
  readonly page: (offset: number) => Promise<readonly Connection[]>
  /** The client finds its connection closed by the server, and may come again. */
  readonly close: (connection: Connection) => Promise<void>
}

/** Where sensors are once they have signed in: refused sign-ins are not reported here. */
const endedSubjects = [airAccount, sensorsAccount].map(
  (account) => `$SYS.ACCOUNT.${account}.DISCONNECT`,
)

export const pageSize = 1_024
const listSubject = '$SYS.REQ.SERVER.PING.CONNZ'
const closeSubject = (serverId: string): string => `$SYS.REQ.SERVER.${serverId}.KICK`
/** After this time no server is waited for. */
const answersWithinMs = 1_500
/** No server answers this long after the one before it. */
const stallMs = 250

/** @param nc signed in to the system account */
export function openConnections(nc: NatsConnection): Connections {
  async function* request(filter: object): AsyncGenerator<Connection> {
    const answers = await nc.requestMany(listSubject, JSON.stringify(filter), {
      strategy: 'stall',
      maxWait: answersWithinMs,
      stall: stallMs,
    })
    for await (const answer of answers) yield* readAnswer(answer.json())
  }
  return {
    of: (user) => request({ auth: true, user, limit: pageSize }),
    page: (offset) => Array.fromAsync(request({ auth: true, limit: pageSize, offset })),
    close: async ({ serverId, cid }) =>
      void (await nc.request(closeSubject(serverId), JSON.stringify({ cid }))),
  }
}

type Answer = {
  readonly server?: { readonly id?: string }
  readonly data?: {
    readonly now?: string
    readonly connections?: readonly {
      readonly cid: number
      readonly type?: string
      readonly ip?: string
      readonly start?: string
      readonly last_activity?: string
      readonly in_msgs?: number
      readonly in_bytes?: number
      readonly lang?: string
      readonly version?: string
      readonly authorized_user?: string
    }[]
  }
}

/** Made by the server itself, so taken as it is. */
function readAnswer({ server, data }: Answer): readonly Connection[] {
  return (data?.connections ?? []).map((connection) => ({
    serverId: server?.id ?? '',
    cid: connection.cid,
    user: connection.authorized_user ?? '',
    protocol:
      connection.type === 'mqtt' || connection.type === 'websocket' ? connection.type : 'nats',
    address: connection.ip ?? '',
    client: [connection.lang, connection.version].filter(Boolean).join(' ') || undefined,
    messages: connection.in_msgs ?? 0,
    bytes: connection.in_bytes ?? 0,
    // both by the server's clock, whatever our own shows
    ageMs: Date.parse(data?.now ?? '') - Date.parse(connection.start ?? ''),
    since: connection.start ?? '',
    lastActivity: connection.last_activity ?? '',
  }))
}

/**
 * Reports the connections that end, of clients that had signed in.
 * @param system signed in to the system account
 * @param queue gates that share one each receive a part of them
 */
export function followEnds(
  system: NatsConnection,
  guard: Pick<InputGuard, 'callback'>,
  onEnd: (ended: Ended) => void,
  { queue }: { readonly queue?: string } = {},
): Disposable {
  const callback = guard.callback('server', (error: Error | null, message: Msg) => {
    if (!error) onEnd(readEnd(message.json()))
  })
  const subscriptions = endedSubjects.map((subject) =>
    system.subscribe(subject, { callback, ...(queue === undefined ? {} : { queue }) }),
  )
  return {
    [Symbol.dispose]: () => {
      if (!system.isClosed()) for (const subscription of subscriptions) subscription.unsubscribe()
    },
  }
}

type EndEvent = {
  readonly server?: { readonly id?: string }
  readonly client?: {
    readonly id?: number
    readonly user?: string
    readonly start?: string
    readonly stop?: string
  }
  /** By the client. */
  readonly sent?: { readonly msgs?: number; readonly bytes?: number }
  readonly reason?: string
}

const readEnd = ({ server, client, sent, reason }: EndEvent): Ended => ({
  serverId: server?.id ?? '',
  cid: client?.id ?? 0,
  user: client?.user ?? '',
  messages: sent?.msgs ?? 0,
  bytes: sent?.bytes ?? 0,
  ageMs: Date.parse(client?.stop ?? '') - Date.parse(client?.start ?? ''),
  reason: reason ?? '',
})
