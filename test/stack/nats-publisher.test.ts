import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { openPublisher } from '../../runtime/nats/publisher.ts'
import { fenceHeader, isWrongLastSequence, lastMessage } from '../../runtime/nats/stored-message.ts'
import { isServerAway } from '../../runtime/server-away.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const usualMs = 5_000

async function openStream(timeoutMs = usualMs) {
  await using opening = new AsyncDisposableStack()
  const nats = opening.use(await testNats())
  const nc = await nats.connect()
  opening.defer(() => nc.close())
  await (await jetstreamManager(nc)).streams.add({ name: 'P', subjects: ['p.*'] })
  const all = opening.move()
  const publisher = openPublisher(nc, timeoutMs)
  return { nats, nc, publisher, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
test('what is published together is stored in that order, with its headers', async () => {
  await using stream = await openStream()
  const { nc, publisher } = stream
  const seqs = await Promise.all(
    ['a', 'b', 'c'].map((name, place) =>
      publisher.publish(`p.${name}`, bytes(name), { 'Air-Place': place, 'Air-Name': `${name}: x` }),
    ),
  )
  expect(seqs).toEqual([1, 2, 3])
  const last = await lastMessage(nc, 'P', 'p.c')
  expect(last?.seq).toBe(3)
  expect(Buffer.from(last?.data ?? []).toString()).toBe('c')
  expect([last?.headers?.get('Air-Place'), last?.headers?.get('Air-Name')]).toEqual(['2', 'c: x'])
})

test('a message that the fence stops is refused by its error, and others are not', async () => {
  await using stream = await openStream()
  const { publisher } = stream
  const [first, second, other] = await Promise.allSettled([
    publisher.publish('p.a', bytes('1'), { [fenceHeader]: 0 }),
    publisher.publish('p.a', bytes('2'), { [fenceHeader]: 0 }),
    publisher.publish('p.b', bytes('3'), { [fenceHeader]: 0 }),
  ])
  expect(first).toEqual({ status: 'fulfilled', value: 1 })
  expect(other).toEqual({ status: 'fulfilled', value: 2 })
  const reason: unknown = second.status === 'rejected' ? second.reason : undefined
  expect(reason).toBeInstanceOf(JetStreamApiError)
  expect(isWrongLastSequence(reason)).toBe(true)
})

test('a subject that no stream takes, a silent server and a closed connection are named as away', async () => {
  await using stream = await openStream(200)
  const { nats, nc, publisher } = stream
  const faultOf = (subject: string): Promise<unknown> =>
    publisher.publish(subject, bytes('?'), {}).catch((error: unknown) => error)
  expect(isServerAway(await faultOf('nobody.listens'))).toBe(true)
  nats.freeze()
  const silent = await Promise.all([faultOf('p.a'), faultOf('p.b')])
  nats.thaw()
  expect(silent.every(isServerAway)).toBe(true)
  await eventually('it takes messages again', async () =>
    typeof (await faultOf('p.c')) === 'number' ? true : undefined,
  )
  nats.freeze()
  const waiting = faultOf('p.d')
  const closing = nc.close()
  nats.thaw()
  await closing
  expect([typeof (await waiting) === 'number', isServerAway(await waiting)]).toContain(true)
  expect(isServerAway(await faultOf('p.e'))).toBe(true)
})
