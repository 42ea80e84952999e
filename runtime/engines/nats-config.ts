/** Settings of our own nats-server. */
export type NatsServerConfig = {
  readonly host: string
  readonly port: number
  /** Its JetStream's folder, as the server sees it. */
  readonly storeFolder: string
  /** Each write is on the disk before it is acknowledged: a power failure loses nothing. */
  readonly syncAlways: boolean
  /**
   * The file with users and their permissions, next to this one (`nats-users.ts`), and the port at
   * which MQTT devices sign in; absent: there is no sign-in, every client may do everything.
   */
  readonly door?: NatsDoor
}

export type NatsDoor = {
  readonly usersFile: string
  readonly mqttPort: number
  /** Paths as the server sees them; absent: no TLS. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  /** Connections at once, signed in or not. */
  readonly maxConnections?: number
}

/** For a city of 100,000 sensors and our own processes. */
const defaultMaxConnections = 110_000
/** Per connection: otherwise a signed-in device could take the server's memory without a bound. */
const maxSubscriptions = 1_000
/**
 * Messages and bytes of one stream that wait for the disk: above it a publisher receives 429, to try
 * again later. Until the gate stops a device that floods, the other sensors of its partition wait
 * for its messages.
 */
const maxBuffered = { messages: 5_000, bytes: '32MB' }

/**
 * The server's configuration file. The store may grow up to the streams' own bounds: a reservation
 * by disk size would refuse them on a small disk. A sensor's QoS 2 publish is refused, and its QoS 2
 * subscription becomes one of QoS 1: readings are deduplicated by (sensor, time) anyway. The
 * consumer of a QoS 1 subscription is deleted a day after its device has left.
 */
export const natsConfig = (config: NatsServerConfig): string => `\
server_name: airproof
listen: ${JSON.stringify(`${config.host}:${config.port}`)}
max_payload: 1MB
max_connections: ${config.door?.maxConnections ?? defaultMaxConnections}
max_subscriptions: ${maxSubscriptions}
jetstream {
  store_dir: ${JSON.stringify(config.storeFolder)}
  max_memory_store: 256MB
  max_file_store: 1TB
  max_buffered_msgs: ${maxBuffered.messages}
  max_buffered_size: ${maxBuffered.bytes}
  sync_interval: ${config.syncAlways ? 'always' : '2m'}
}
${config.door ? doorConfig(config.host, config.door) : openMappings}`

/** The server adds the partition to the subjects of readings, as in `nats-users.ts`. */
const openMappings = `\
mappings {
  "air.raw.*": "air.raw.{{partition(16,1)}}.{{wildcard(1)}}"
}
`

function doorConfig(host: string, { usersFile, mqttPort, tls }: NatsDoor): string {
  const tlsLines = (indent: string): string =>
    tls === undefined
      ? ''
      : `${indent}tls { cert_file: ${JSON.stringify(tls.certFile)}, key_file: ${JSON.stringify(tls.keyFile)} }\n`
  return `\
${tlsLines('')}mqtt {
  listen: ${JSON.stringify(`${host}:${mqttPort}`)}
${tlsLines('  ')}  reject_qos2_publish: true
  downgrade_qos2_subscribe: true
  consumer_inactive_threshold: "24h"
}
include ${JSON.stringify(usersFile)}
`
}
