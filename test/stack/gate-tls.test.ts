/** TLS for NATS and MQTT from files, read again when they change. */
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect as dialTls } from 'node:tls'
import { jetstream } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { openTlsFiles } from '../../runtime/http/tls-files.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { testAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { guardedNats } from '../support/gate.ts'
import { mqttClient } from '../support/mqtt-client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const id = 'NGR-LOS-IKJ-017'

/** The serial number of the certificate that is shown on an MQTT port. */
const shown = (url: string, ca: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url)
    const socket = dialTls({ host, port: Number(port), ca }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.once('error', reject)
  })

const post = (url: string, ca: string, id: string, secret: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method: 'POST', ca, agent: false, auth: `${id}:${secret}` },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      },
    )
    asked.setHeader('content-type', 'application/json')
    asked.once('error', reject)
    asked.end(JSON.stringify({ timestamp: new Date().toISOString(), pm25: 12 }))
  })

test('sensors sign in only over TLS, and sign in again when a renewed one is used', async () => {
  using folder = temporaryFolder()
  const authority = testAuthority(folder.path)
  const [first, second] = [1, 2].map(() => authority.issue({ name: 'localhost' }))
  if (!first || !second) throw new Error('no certificates')
  const files = { certFile: join(folder.path, 'cert'), keyFile: join(folder.path, 'key') }
  writeFileSync(files.certFile, first.cert)
  writeFileSync(files.keyFile, first.key)
  await using nats = await guardedNats({ tls: files })
  const pushPort = await freePort()
  await using _gate = await nats.startGate({
    AIRPROOF_PUSH_PORT: String(pushPort),
    AIRPROOF_TLS_CERT_FILE: files.certFile,
    AIRPROOF_TLS_KEY_FILE: files.keyFile,
  })
  const secret = await nats.addSensor(id)

  const tls = { ca: authority.ca }
  const mqttUrl = nats.mqttUrl.replace('127.0.0.1', 'localhost')
  const nc = await nats.sensor(id, secret, {
    tls,
    reconnect: true,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
  })
  expect((await jetstream(nc).publish(`air.raw.${id}`, '{}')).seq).toBe(1)
  const client = await mqttClient(mqttUrl, { id, secret, ca: authority.ca })
  await client.publishAsync(`air/raw/${id}`, '{"n":2}', { qos: 1 })

  await expect(mqttClient(mqttUrl.replace('mqtts:', 'mqtt:'), { id, secret })).rejects.toThrow(
    /closed|reset|hang/i,
  )
  await expect(nats.sensor(id, secret, { tls: { ca: second.cert } })).rejects.toThrow(
    /certificate|issuer/i,
  )
  await expect(
    connect({ servers: nats.url, tls: null, user: id, pass: secret, reconnect: false }),
  ).rejects.toThrow(/./)

  const pushUrl = `https://localhost:${pushPort}/push/readings`
  expect(await post(pushUrl, authority.ca, id, secret)).toBe(202)
  const before = await shown(mqttUrl, authority.ca)
  const pushedBefore = await shown(pushUrl, authority.ca)
  using watched = openTlsFiles({
    env: { AIRPROOF_TLS_CERT_FILE: files.certFile, AIRPROOF_TLS_KEY_FILE: files.keyFile },
    flags: {},
  })
  watched?.onChange(() => nats.server.reload())
  writeFileSync(files.keyFile, second.key)
  writeFileSync(files.certFile, second.cert)
  await eventually('the new one is shown', async () => {
    return (await shown(mqttUrl, authority.ca)) !== before
  })
  await eventually('and over HTTP', async () => {
    return (await shown(pushUrl, authority.ca)) !== pushedBefore
  })
  const again = await eventually('the sensor is back', () =>
    jetstream(nc)
      .publish(`air.raw.${id}`, '{"n":3}')
      .catch(() => undefined),
  )
  expect(again.seq).toBeGreaterThan(2)
  expect(nats.server.isAlive()).toBe(true)
  await client.endAsync(true)
})
