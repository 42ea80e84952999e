/** What a NATS server requests when a client signs in whom its own file does not name. */
import { claimsOf } from './nats-jwt.ts'

export type AuthRequest = {
  readonly serverId: string
  readonly serverTags: readonly string[]
  /** The server's number for the connection. */
  readonly cid: number
  /** The key that the server made for this connection; the answer must name it. */
  readonly userKey: string
  /** What was given as user and password; empty where nothing was. */
  readonly user: string
  readonly password: string
  readonly protocol: 'nats' | 'mqtt' | 'websocket'
  /** Of an MQTT connection. */
  readonly mqttId: string | undefined
  readonly address: string
  /** What the client says it is: its library and version. */
  readonly client: string | undefined
}

/** @returns undefined where it is not such a request */
export function readAuthRequest(token: string): AuthRequest | undefined {
  try {
    const { nats } = asRecord(claimsOf(token))
    const {
      server_id: server,
      user_nkey: userKey,
      client_info: info,
      connect_opts: options,
    } = asRecord(nats)
    const { id: serverId, tags } = asRecord(server)
    if (typeof serverId !== 'string' || typeof userKey !== 'string') return undefined
    const { id: cid, host, type, mqtt_id: mqttId } = asRecord(info)
    const { user, pass, lang, version } = asRecord(options)
    return {
      serverId,
      serverTags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
      cid: typeof cid === 'number' ? cid : 0,
      userKey,
      user: textOr(user, ''),
      password: textOr(pass, ''),
      protocol: type === 'mqtt' || type === 'websocket' ? type : 'nats',
      mqttId: typeof mqttId === 'string' ? mqttId : undefined,
      address: textOr(host, ''),
      client: clientOf(lang, version),
    }
  } catch {
    return undefined
  }
}

/** A device may send anything here: we store something short and printable. */
function clientOf(lang: unknown, version: unknown): string | undefined {
  const claimed = [lang, version]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ')
  const shown = claimed.replace(/[^\x20-\x7e]/g, '').slice(0, 60)
  return shown === '' ? undefined : shown
}

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {}
}
