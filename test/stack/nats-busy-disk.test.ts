/** Messages of a device that sends as fast as it can do not delay its neighbours without end. */
import { expect, inject, test } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { guardedNats } from '../support/gate.ts'

test('beyond the bound of what waits for the disk a sensor receives 429, and its neighbour is accepted', async () => {
  await using nats = await guardedNats({ syncAlways: true, within: inject('disk') })
  const gate = await nats.startGate()
  const id = 'NGR-LOS-IKJ-017'
  const neighbour = Array.from({ length: 999 }, (_, i) => `NGR-LOS-YAB-${100 + i}`).find(
    (other) => partitionOf(other) === partitionOf(id),
  )
  if (neighbour === undefined) throw new Error('there is none')
  const [greedy, calm] = [
    await nats.sensor(id, await nats.addSensor(id)),
    await nats.sensor(neighbour, await nats.addSensor(neighbour)),
  ]
  // Without its flood watch, which would close the connection before the server's answers are read
  await gate[Symbol.asyncDispose]()
  const codes: (number | undefined)[] = []
  greedy.subscribe(`_INBOX_${id}.>`, {
    callback: (_, message) =>
      void codes.push(message.json<{ error?: { code: number } }>().error?.code),
  })
  for (let i = 0; i < 30_000; i++) greedy.publish(`air.raw.${id}`, 'x', { reply: `_INBOX_${id}.a` })
  await greedy.flush().catch(() => undefined)
  const subject = `air.raw.${neighbour}`
  await expect
    .poll(async () => {
      const answer = await calm.request(subject, '{}', { timeout: 10_000 })
      return answer.json<{ seq?: number }>().seq
    })
    .toBeGreaterThan(0)
  expect(codes).toContain(429)
})
