/**
 * A sensor over MQTT (mqtt.js 5). It keeps each reading until a receipt says that it is stored.
 *
 * Wants SENSOR_ID, SENSOR_KEY and MQTT_URL (mqtt://host:1883, mqtts://host:8883); takes INTERVAL
 * (seconds, 300). The sensor must have asked for receipts. For a private CA: NODE_EXTRA_CA_CERTS.
 */
import { env } from 'node:process'
import mqtt from 'mqtt'

const { SENSOR_ID: sensor, SENSOR_KEY: key, MQTT_URL: url, INTERVAL: seconds = '300' } = env

// five weeks of one every five minutes; then the oldest go
const mostKept = 10_000
const kept = []

/** Your sensor's values here; what it does not measure is left out. */
const measure = () => ({
  timestamp: `${new Date().toISOString().slice(0, 19)}Z`,
  pm25: Math.round(Math.random() * 500) / 10,
  pm10: 78.2,
})

const client = mqtt.connect(url, {
  protocolVersion: 4,
  clientId: sensor,
  username: sensor,
  password: key,
  // after an outage every sensor of the city comes back: not all in the same second
  reconnectPeriod: 1_000 + Math.random() * 9_000,
  // a door that is closed for a moment looks like a wrong password
  reconnectOnConnackError: true,
  // what was not sent is sent from `kept`, and not twice
  queueQoSZero: false,
})
client.on('error', (error) => console.error(error.message))
client.on('connect', () => {
  client.subscribe(`air/ack/${sensor}`)
  send()
})
client.on('message', (_topic, payload) => {
  const { timestamp } = JSON.parse(payload.toString())
  // all are UTC in whole seconds: their texts order as their times do
  while (kept.length > 0 && kept[0].timestamp <= (timestamp ?? '')) kept.shift()
  console.log(`stored up to ${timestamp}, ${kept.length} kept`)
})

/** Oldest first, so that one timestamp says what is stored. An array counts as one message. */
function send() {
  if (kept.length > 0 && client.connected)
    client.publish(`air/raw/${sensor}`, JSON.stringify(kept.slice(0, 500)))
}

function tick() {
  kept.push(measure())
  if (kept.length > mostKept) kept.shift()
  send()
}
tick()
setInterval(tick, Number(seconds) * 1_000)
