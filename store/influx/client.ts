import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { InfluxDB, setLogger, type Transport, type WriteApi } from '@influxdata/influxdb-client'
import { StoreMisconfigured } from '../store.ts'

export type InfluxClientOptions = {
  readonly url: string
  readonly token: string
  /** For each request: it may be rotated while the process runs. */
  readonly tokenNow?: () => string
  readonly org: string
  /** How long the server may be silent before an answer. */
  readonly writeTimeoutMs?: number
  readonly queryTimeoutMs?: number
}

export type InfluxClient = Disposable & {
  /** Of the server, without what a URL may hide, for messages. */
  readonly place: string
  readonly writeApi: (bucket: string) => WriteApi
  readonly queries: Transport
}

/** @throws StoreMisconfigured where the URL is none */
export function influxClient({
  url,
  token,
  tokenNow = () => token,
  org,
  writeTimeoutMs = 10_000,
  queryTimeoutMs = 60_000,
}: InfluxClientOptions): InfluxClient {
  const { protocol, host } = parseUrl(url)
  // every failure reaches the caller as an error: the client need not print it as well
  setLogger({ error: () => undefined, warn: () => undefined })
  const agent = new (protocol === 'https:' ? SecureAgent : Agent)({
    keepAlive: true,
    maxSockets: 32,
  })
  const connect = (timeout: number): InfluxDB => {
    const made = (now: string): Transport =>
      new InfluxDB({ url, token: now, timeout, transportOptions: { agent } }).transport
    return new InfluxDB({ url, transport: withTokenNow(tokenNow, made) })
  }
  const writing = connect(writeTimeoutMs)
  return {
    place: `InfluxDB at ${protocol}//${host}`,
    writeApi: (bucket) => writing.getWriteApi(org, bucket, 'ms', writeOptions),
    queries: connect(queryTimeoutMs).transport,
    [Symbol.dispose]: () => agent.destroy(),
  }
}

/** The client has a token for good: with another token there is another transport. */
function withTokenNow(tokenNow: () => string, make: (token: string) => Transport): Transport {
  let token = tokenNow()
  let transport = make(token)
  const now = (): Transport => {
    const next = tokenNow()
    if (next !== token) transport = make(next)
    token = next
    return transport
  }
  return {
    send: (...request) => now().send(...request),
    request: (...request) => now().request(...request),
    iterate: (...request) => now().iterate(...request),
    chunkCombiner: transport.chunkCombiner,
  }
}

/**
 * The client neither retries, nor waits, nor sends of its own accord: a record that filled its
 * buffer would be sent at once, its failure swallowed, and the next flush would call it written.
 * One call is one record here, so the buffer never holds a second one.
 */
const writeOptions = {
  maxRetries: 0,
  flushInterval: 0,
  batchSize: 1000,
  maxBufferLines: 1000,
  maxBatchBytes: 1e9,
  gzipThreshold: 1e12,
}

function parseUrl(url: string): URL {
  const parsed = URL.parse(url)
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new StoreMisconfigured('INFLUX_URL is not an http or https URL')
  }
  return parsed
}
