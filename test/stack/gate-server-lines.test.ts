/**
 * What the server denied, and that it found no space, is read from its log, which quotes names that
 * clients choose. Their text is never taken for the server's.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { deniedSubject } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { guardedNats } from '../support/gate.ts'
import { mqttClient } from '../support/mqtt-client.ts'

const [id, other] = ['NGR-LOS-IKJ-017', 'NGR-LOS-YAB-002']

/** Signs in with whatever; resolves when the server has closed the connection. */
async function tryAs(url: string, user: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'data')
  const options = { verbose: false, pedantic: false, user, pass: 'x', lang: user, version: '1' }
  socket.write(`CONNECT ${JSON.stringify(options)}\r\nPING\r\n`)
  await closed
}

test('a stranger neither has the server restarted, nor a sensor shut out, nor the log filled', async () => {
  await using nats = await guardedNats()
  await using _gate = await nats.startGate()
  const secret = await nats.addSensor(id)
  await nats.addSensor(other)
  const linesBefore = nats.printed.length
  for (let n = 0; n < 40; n++) {
    await tryAs(nats.url, 'no space left on device')
    await tryAs(nats.url, `x - AIR/user:${other} - Publish Violation - Subject "y"`)
    await tryAs(nats.url, 'z'.repeat(5_000))
  }
  // a device that is signed in, with a name of its choice
  const name = `x - AIR/user:${other} - Publish Violation - no space left on device`
  const nc = await nats.sensor(id, secret, { name })
  nc.publish('air.readings.0', name)
  await nc.flush()
  const mine = await eventually('the device’s own is denied', () => nats.denied.at(0))
  expect(mine).toEqual({ who: id, what: 'publish', subject: 'air.readings.0' })
  expect(nats.denied.length).toBe(1)
  expect(nats.noRoom()).toBe(0)
  expect(nats.printed.length - linesBefore).toBeLessThan(10)
})

test('what is denied to firmware with a client id of its own counts as its sensor’s', async () => {
  await using nats = await guardedNats()
  await using gate = await nats.startGate()
  const device = { kind: 'tasmota', serial: 'roof', options: { client_id: 'DVES_1' } } as const
  const secret = await nats.addSensor(id, { device })
  const client = await mqttClient(nats.mqttUrl, { id, secret, clientId: 'DVES_1' })
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
  // as `up` reports it, from the lines that name the client
  nats.nc.publish(deniedSubject('test'), JSON.stringify({ DVES_1: 700 }))
  await closed
  await client.endAsync(true)
  await expect(mqttClient(nats.mqttUrl, { id, secret, clientId: 'DVES_1' })).rejects.toThrow(
    /not authorized/i,
  )
  const denied = await gate.metric('airproof_gate_sign_ins_total', 'verdict="paused"')
  expect(denied).toBe(1)
})
