/** Settings of a nats-server of our own. */
export type NatsServerConfig = {
  readonly host: string
  readonly port: number
  /** Its JetStream's folder, as the server sees it. */
  readonly storeFolder: string
  /** Each write is on the disk before it is acknowledged: a power failure loses nothing. */
  readonly syncAlways: boolean
}

/**
 * The server's configuration file. Readings' subjects get their partition from the server
 * itself, by the same hash as `partitionOf` of `core/sensor-id.ts`. The store may grow as far as
 * the streams' own bounds let it: a reservation by disk size would refuse them on a small disk.
 */
export const natsConfig = ({ host, port, storeFolder, syncAlways }: NatsServerConfig): string => `\
server_name: airproof
listen: ${JSON.stringify(`${host}:${port}`)}
max_payload: 1MB
max_connections: 110000
jetstream {
  store_dir: ${JSON.stringify(storeFolder)}
  max_memory_store: 256MB
  max_file_store: 1TB
  sync_interval: ${syncAlways ? 'always' : '2m'}
}
mappings {
  "air.raw.*": "air.raw.{{partition(16,1)}}.{{wildcard(1)}}"
}
`
