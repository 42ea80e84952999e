/** A connection that a sensor has open, as the gate tells it. */
export type OpenConnection = {
  readonly protocol: 'nats' | 'mqtt' | 'websocket'
  readonly address: string
  /** Library and version, as the client says. */
  readonly client?: string | undefined
  /** ISO 8601. */
  readonly since: string
  readonly lastActivity: string
  /** Messages that came in on it, those denied among them. */
  readonly messages: number
}
