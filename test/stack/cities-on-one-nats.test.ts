/** Two cities on one NATS server, an account each, as docs/another-city.md says: nothing crosses. */
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { createSensor, openRegistry } from '../../operate/sensor-registry.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { startNatsServer } from '../../runtime/engines/nats-server.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from '../support/eventually.ts'
import { entryOf } from '../support/pipeline.ts'
import { type RunningCity, runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Place = { readonly name: string; readonly prefix: string; readonly sensor: string }
const lagos: Place = { name: 'Lagos', prefix: 'NGR-LOS', sensor: 'NGR-LOS-IKJ-001' }
const berlin: Place = { name: 'Berlin', prefix: 'BER', sensor: 'BER-MIT-001' }
const password = 'as long as a password of a test'

/** The account of the page, with one sensor that speaks NATS. */
const account = ({ name, sensor }: Place): string => `
  ${name.toUpperCase()} {
    jetstream: enabled
    mappings { "air.raw.*": "air.raw.{{partition(16,1)}}.{{wildcard(1)}}" }
    users [
      { user: ${name}, password: "${password}" }
      { user: ${sensor}, password: "${password}", permissions {
          publish: "air.raw.*.${sensor}", subscribe: ["_INBOX.>", "air.ack.${sensor}"] } }
    ]
  }`

test('each city has its sensors, readings, keys and numbers, and none of the other', async () => {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(temporaryFolder())
  const env = environment()
  const port = await freePort()
  const server = opened.use(
    await startNatsServer({
      engine: await findNatsServer({ env }),
      folder: join(folder.path, 'nats'),
      port,
      env,
      config: `listen: "127.0.0.1:${port}"
jetstream { store_dir: ${JSON.stringify(join(folder.path, 'nats', 'streams'))}, max_file_store: 1TB }
accounts {${account(lagos)}${account(berlin)}
}
`,
    }),
  )
  const as = async (user: string): Promise<NatsConnection> => {
    const nc = await connect({ servers: server.url, user, pass: password })
    opened.defer(() => nc.close())
    return nc
  }

  const open = async ({ name, prefix }: Place): Promise<RunningCity> =>
    opened.use(
      await runCity(join(folder.path, name), {
        env: {
          NATS_URL: server.url,
          NATS_USER: name,
          NATS_PASSWORD: password,
          AIRPROOF_NETWORK_NAME: name,
          AIRPROOF_ID_PREFIX: prefix,
        },
      }),
    )
  const cities = [
    { place: lagos, city: await open(lagos), other: berlin },
    { place: berlin, city: await open(berlin), other: lagos },
  ]
  const ask = (at: RunningCity, path: string, { key } = at.instance): Promise<Response> =>
    fetch(at.instance.api + path, {
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
    })

  const timestamp = new Date().toISOString()
  for (const { place, other } of cities) {
    const nc = await as(place.name)
    const registry = await openRegistry(nc, sensorIdRules(place.prefix))
    await createSensor(registry, entryOf(place.sensor))
    const sensor = await as(place.sensor)
    const body = JSON.stringify({ timestamp, pm25: 12 })
    await sensor.request(`air.raw.${place.sensor}`, body)
    // not its subject: the server denies it, and nothing answers
    const denied = sensor.request(`air.raw.${other.sensor}`, body, { timeout: 2_000 })
    await expect(denied).rejects.toThrow('timeout')
  }
  for (const { place, city, other } of cities) {
    type Readings = { readings: readonly { sensor_id: string; timestamp: string }[] }
    const { readings } = await eventually(`${place.name} has its reading`, async () => {
      const page = (await (await ask(city, '/v1/readings')).json()) as Readings
      return page.readings.length > 0 ? page : undefined
    })
    expect(readings.map((reading) => [reading.sensor_id, reading.timestamp])).toEqual([
      [place.sensor, timestamp],
    ])
    expect((await ask(city, `/v1/sensors/${other.sensor}/status`)).status).toBe(404)
    for (const { city: from } of cities)
      expect((await ask(city, '/v1/sensors', from.instance)).status).toBe(from === city ? 200 : 401)
    const texts = await allOf(await as(place.name))
    expect(texts.filter((text) => text.includes(place.sensor)).length).toBeGreaterThan(2)
    expect(texts.filter((text) => text.includes(other.sensor))).toEqual([])
  }
})

/** Subject and body of every message of every stream of an account. */
async function allOf(nc: NatsConnection): Promise<readonly string[]> {
  const manager = await jetstreamManager(nc)
  const texts: string[] = []
  for await (const { config, state } of manager.streams.list())
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
      const message = await manager.streams.getMessage(config.name, { seq }).catch(() => null)
      if (message !== null) texts.push(`${message.subject} ${message.string()}`)
    }
  return texts
}
