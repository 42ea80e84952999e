/**
 * A sensor over NATS (@nats-io/transport-node, @nats-io/jetstream). The answer to a publish says
 * that the reading is stored, so it needs no receipts.
 *
 * Wants SENSOR_ID, SENSOR_KEY and NATS_URL (nats://host:4222, tls://host:4222); takes INTERVAL
 * (seconds, 300) and CA_FILE.
 */
import { env } from 'node:process'
import { jetstream } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'

const { SENSOR_ID: sensor, SENSOR_KEY: key, NATS_URL: url, CA_FILE: caFile } = env
const intervalMs = Number(env.INTERVAL ?? '300') * 1_000
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

// five weeks of one every five minutes; then the oldest go
const mostKept = 10_000
const kept = []

/** Your sensor's values here; what it does not measure is left out. */
const measure = () => ({
  timestamp: new Date().toISOString(),
  pm25: Math.round(Math.random() * 500) / 10,
  pm10: 78.2,
})
setInterval(tick, intervalMs)
tick()
function tick() {
  kept.push(measure())
  if (kept.length > mostKept) kept.shift()
}

const nats = await connect({
  servers: url,
  user: sensor,
  pass: key,
  // the only subjects below which the sensor may listen for answers
  inboxPrefix: `_INBOX_${sensor}`,
  waitOnFirstConnect: true,
  maxReconnectAttempts: -1,
  // after an outage every sensor of the city comes back: not all in the same second
  reconnectTimeWait: 1_000,
  reconnectJitter: 9_000,
  reconnectJitterTLS: 9_000,
  // a door that is closed for a moment looks like a wrong password
  ignoreAuthErrorAbort: true,
  ...(caFile === undefined ? {} : { tls: { caFile } }),
})

for (let pauseMs = 250; ; ) {
  const some = kept.slice(0, 500)
  if (some.length === 0) {
    await sleep(Math.min(intervalMs, 1_000))
    continue
  }
  try {
    // an array counts as one message, and each reading in it is judged by itself
    const { stream, seq } = await jetstream(nats).publish(`air.raw.${sensor}`, JSON.stringify(some))
    for (const one of some) if (kept[0] === one) kept.shift()
    pauseMs = 250
    console.log(`stored as ${stream} ${seq}, ${kept.length} kept`)
  } catch (error) {
    console.error(`not stored, again in ${pauseMs} ms: ${error.message}`)
    await sleep(pauseMs)
    pauseMs = Math.min(pauseMs * 2, 60_000)
  }
}
