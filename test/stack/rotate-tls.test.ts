/**
 * Another certificate on a NATS server of one's own, as docs/secrets.md has it, while sensors send over
 * NATS, MQTT and HTTPS: who connects from then on is shown the new one, and no process is cut off.
 * Sensors over NATS and MQTT sign in again. Interrupted half-way, the former one stays.
 */
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { connect as dial } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as dialTls } from 'node:tls'
import { expect, test } from 'vitest'
import { asSystem } from '../../cli/access/as-system.ts'
import { askAll } from '../../cli/access/ask-servers.ts'
import { placeOf } from '../../cli/access/places.ts'
import { ownUsers } from '../../runtime/engines/nats-users.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { testAuthority } from '../support/certificates.ts'
import { untilJudged } from '../support/chaos/read-log.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats } from '../support/gate.ts'
import { guardedCity } from '../support/guarded-city.ts'
import { mqttClient } from '../support/mqtt-client.ts'
import { fastSensor, sendingSensor } from '../support/rotation.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const [overNats, overMqtt, overHttp] = [
  'NGR-LOS-IKJ-001',
  'NGR-LOS-IKJ-002',
  'NGR-LOS-IKJ-003',
] as const
const stop = new AbortController().signal

/** The serial number of the certificate that is shown to a new client. NATS speaks first, in the clear. */
async function shownAt(port: number, ca: string, { isNats = false } = {}): Promise<string> {
  const socket = dial(port, '127.0.0.1')
  await once(socket, isNats ? 'data' : 'connect')
  const tls = dialTls({ socket, ca, servername: 'localhost' })
  try {
    await once(tls, 'secureConnect')
    return tls.getPeerCertificate().serialNumber
  } finally {
    tls.destroy()
  }
}

/** Sends one reading after the other, each until it is taken. */
function sending(send: (body: string) => Promise<void>) {
  const taken: number[] = []
  const stopping = new AbortController()
  const done = (async () => {
    for (
      let timeMs = Date.now();
      !stopping.signal.aborted;
      timeMs = Math.max(timeMs + 1, Date.now())
    ) {
      await send(JSON.stringify({ timestamp: new Date(timeMs).toISOString(), pm25: 12 }))
      taken.push(timeMs)
      await pause(50)
    }
  })()
  done.catch(() => undefined)
  return {
    taken,
    stop: async () => {
      stopping.abort()
      await done
    },
  }
}

/** The numbers that the server gave to the connections of our own processes. */
async function ownConnections(nats: Guarded, natsPinFile: string): Promise<readonly string[]> {
  const as = { urls: [nats.url], natsPinFile, place: placeOf(nats.folder), stop }
  const lasting = ownUsers.filter((user) => user !== 'system' && user !== 'operator')
  const found = await asSystem(as, (nc) =>
    Promise.all(
      lasting.map(async (user) => {
        const answers = await askAll(nc, 'CONNZ', { auth: true, user })
        return answers
          .flatMap(({ data }) => data?.connections ?? [])
          .map((one) => `${user} ${String(Reflect.get(Object(one), 'cid'))}`)
      }),
    ),
  )
  return found?.flat() ?? []
}

test('a new certificate is shown to new clients, no process or push is cut off, and nothing is lost', async () => {
  using folder = temporaryFolder()
  const authority = testAuthority(folder.path)
  const { ca } = authority
  const [first, second] = [1, 2].map(() => authority.issue({ name: 'localhost' }))
  if (!first || !second) throw new Error('no certificates')
  const files = { certFile: join(folder.path, 'cert.pem'), keyFile: join(folder.path, 'key.pem') }
  writeFileSync(files.keyFile, first.key)
  writeFileSync(files.certFile, first.cert)
  const bothFile = join(folder.path, 'both.pem')
  writeFileSync(bothFile, first.cert + second.cert)
  await using nats = await guardedNats({ tls: files })
  const pushPort = await freePort()
  await using _gate = await nats.startGate({
    AIRPROOF_PUSH_PORT: String(pushPort),
    AIRPROOF_TLS_CERT_FILE: files.certFile,
    AIRPROOF_TLS_KEY_FILE: files.keyFile,
  })
  await using _city = await guardedCity(nats)
  const add = (id: string) => nats.addSensor(id, { flood: fastSensor(id).flood })
  const url = nats.url.replace('127.0.0.1', 'localhost')
  await using load = await sendingSensor(url, overNats, await add(overNats), { ca })
  const client = await mqttClient(nats.mqttUrl.replace('127.0.0.1', 'localhost'), {
    id: overMqtt,
    secret: await add(overMqtt),
    ca,
    reconnectPeriod: 200,
  })
  const mqtt = sending(
    async (body) => void (await client.publishAsync(`air/raw/${overMqtt}`, body, { qos: 1 })),
  )
  // one connection for all, which a cut would be an error on
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca })
  const auth = `${overHttp}:${await add(overHttp)}`
  const sockets = new Set<unknown>()
  const push = sending(async (body) => {
    const asked = request(`https://localhost:${pushPort}/push/readings`, {
      method: 'POST',
      agent,
      auth,
      headers: { 'content-type': 'application/json' },
    }).end(body)
    const [answer] = await once(asked, 'response')
    sockets.add(asked.socket)
    answer.resume()
    await once(answer, 'end')
    expect(answer.statusCode).toBe(202)
  })
  const goesOn = async (): Promise<void> => {
    const [a, b, c] = [load.sent() + 10, mqtt.taken.length + 10, push.taken.length + 10]
    await eventually(
      'all three send',
      () => load.sent() > a && mqtt.taken.length > b && push.taken.length > c,
    )
  }
  await goesOn()
  const before = await ownConnections(nats, files.certFile)
  expect(new Set(before.map((one) => one.split(' ')[0]))).toEqual(
    new Set(['pipeline', 'api', 'gate', 'callout']),
  )
  const natsPort = Number(new URL(nats.url).port)
  const mqttPort = Number(new URL(nats.mqttUrl).port)
  const shown = () =>
    Promise.all([
      shownAt(natsPort, ca, { isNats: true }),
      shownAt(mqttPort, ca),
      shownAt(pushPort, ca),
    ])
  const [former] = await shown()
  expect(new Set(await shown())).toEqual(new Set([former]))

  /** A process elsewhere, whose NATS_PIN_FILE has both beforehand. */
  const signsInByBoth = async (): Promise<void> => {
    const settings = { natsUrl: nats.url, natsLogin: nats.login('api'), natsPinFile: bothFile }
    const nc = await connectNats(settings, { name: 'elsewhere', once: true })
    await nc.close()
  }
  await signsInByBoth()

  // interrupted half-way, or while a file is not there: the former pair stays, for a server that starts too
  writeFileSync(files.keyFile, second.key)
  nats.server.reload()
  rmSync(files.keyFile)
  nats.server.reload()
  const said = nats.printed.map((line) => (JSON.parse(line) as { msg: string }).msg)
  expect(said.filter((words) => words.startsWith('AIRPROOF_TLS'))).toEqual([
    `AIRPROOF_TLS_KEY_FILE names ${files.keyFile}, not the key of ${files.certFile}: the former certificate stays in use`,
    `AIRPROOF_TLS_KEY_FILE names ${files.keyFile}, which cannot be read: the former certificate stays in use`,
  ])
  await goesOn()
  expect(new Set(await shown())).toEqual(new Set([former]))
  expect(await ownConnections(nats, files.certFile)).toEqual(before)

  writeFileSync(files.keyFile, second.key)
  writeFileSync(files.certFile, second.cert)
  // what `nats-server --signal reload` does; the gate sees its files by itself
  nats.server.reload()
  await eventually('all show the new one', async () => {
    const now = await shown()
    return new Set(now).size === 1 && now[0] !== former
  })
  await goesOn()
  expect(await ownConnections(nats, files.certFile)).toEqual(before)
  expect(sockets.size).toBe(1)
  // a process that starts now trusts the new one, by the same file
  expect((await nats.as('notifier')).isClosed()).toBe(false)
  await signsInByBoth()

  await Promise.all([mqtt.stop(), push.stop()])
  await load.check(nats.nc)
  const { accepted } = await untilJudged(nats.nc)
  const timesOf = (id: string) =>
    accepted.filter(({ sensor }) => sensor === id).map(({ timeMs }) => timeMs)
  expect(timesOf(overMqtt)).toEqual(mqtt.taken)
  expect(timesOf(overHttp)).toEqual(push.taken)
  await client.endAsync(true)
  agent.destroy()
})
