/** Settings of a nats-server of our own. */
export type NatsServerConfig = {
  readonly host: string
  readonly port: number
  /** Its JetStream's folder, as the server sees it. */
  readonly storeFolder: string
  /** Each write is on the disk before it is acknowledged: a power failure loses nothing. */
  readonly syncAlways: boolean
  /**
   * The file beside this one that says who may do what (`nats-users.ts`), and the port at which
   * MQTT devices sign in; absent: there is no sign-in, everybody may do everything.
   */
  readonly door?: NatsDoor
}

export type NatsDoor = {
  readonly usersFile: string
  readonly mqttPort: number
  /** As the server sees them; absent: no TLS. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  /** Connections at once, signed in or not. */
  readonly maxConnections?: number
}

/** A city of 100,000 sensors and ourselves. */
const defaultMaxConnections = 110_000
/** Of each connection: memory of the server that a signed-in device could take without an end. */
const maxSubscriptions = 1_000
/**
 * Messages and bytes of one stream that wait for the disk: beyond it a publisher is told to come again
 * (429). What one device sends as fast as it can, until the gate sees it, keeps its neighbours of the
 * partition waiting for as long as that takes.
 */
const maxBuffered = { messages: 5_000, bytes: '32MB' }

/**
 * The server's configuration file. The store may grow as far as the streams' own bounds let it:
 * a reservation by disk size would refuse them on a small disk. A sensor's QoS 2 publish is
 * refused, and its QoS 2 subscription becomes one of QoS 1: what is stored is told apart by
 * (sensor, time) anyway. What a QoS 1 subscription leaves on the server goes a day after its device.
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

/** Readings' subjects get their partition from the server, as in `nats-users.ts`. */
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
