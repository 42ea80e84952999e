/** A sensor's open connection, as the gate reports it. */
export type OpenConnection = {
  readonly protocol: 'nats' | 'mqtt' | 'websocket'
  readonly address: string
  /** Library and version, as the client reports them. */
  readonly client?: string | undefined
  /** ISO 8601. */
  readonly since: string
  readonly lastActivity: string
  /** Messages received on it, denied ones included. */
  readonly messages: number
}
