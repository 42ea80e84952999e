/**
 * The servers' open connections, as their system account tells them: found by sensor or listed
 * page by page, and closed.
 */
import type { NatsConnection } from '@nats-io/transport-node'

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
  /** How long it is open. */
  readonly ageMs: number
  /** ISO 8601. */
  readonly since: string
  readonly lastActivity: string
}

export type Connections = {
  /** Of a sensor, on every server, as the answers come. */
  readonly of: (user: string) => AsyncIterable<Connection>
  /** All there are: one list a server, at most `pageSize` of each, from `offset` on. */
  readonly page: (offset: number) => Promise<readonly Connection[]>
  /** The client finds its connection closed by the server, and may come again. */
  readonly close: (connection: Connection) => Promise<void>
}

export const pageSize = 1_024
const listSubject = '$SYS.REQ.SERVER.PING.CONNZ'
const closeSubject = (serverId: string): string => `$SYS.REQ.SERVER.${serverId}.KICK`
/** A server that has not answered by then is not waited for. */
const answersWithinMs = 1_500
/** No server answers so long after another one. */
const stallMs = 250

/** @param nc signed in to the system account */
export function openConnections(nc: NatsConnection): Connections {
  async function* ask(wish: object): AsyncGenerator<Connection> {
    const answers = await nc.requestMany(listSubject, JSON.stringify(wish), {
      strategy: 'stall',
      maxWait: answersWithinMs,
      stall: stallMs,
    })
    for await (const answer of answers) yield* readAnswer(answer.json())
  }
  return {
    of: (user) => ask({ auth: true, user, limit: pageSize }),
    page: (offset) => Array.fromAsync(ask({ auth: true, limit: pageSize, offset })),
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

/** Of the server's own making, so taken as it is. */
function readAnswer({ server, data }: Answer): readonly Connection[] {
  return (data?.connections ?? []).map((one) => ({
    serverId: server?.id ?? '',
    cid: one.cid,
    user: one.authorized_user ?? '',
    protocol: one.type === 'mqtt' || one.type === 'websocket' ? one.type : 'nats',
    address: one.ip ?? '',
    client: [one.lang, one.version].filter(Boolean).join(' ') || undefined,
    messages: one.in_msgs ?? 0,
    bytes: one.in_bytes ?? 0,
    // both by the server's clock, whatever ours says
    ageMs: Date.parse(data?.now ?? '') - Date.parse(one.start ?? ''),
    since: one.start ?? '',
    lastActivity: one.last_activity ?? '',
  }))
}
