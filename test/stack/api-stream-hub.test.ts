/** Those who do not read, on real sockets; what is told is made here. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { createStreamHub, type StreamHub } from '../../api/stream/hub.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { listenTo } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { readingOf } from '../support/small-worker.ts'

/** A hub that tells of readings of so many bytes whenever the test says so. */
async function tellingHub(bytes: number, options: { pingMs?: number; mostUnread?: number } = {}) {
  const opened = new AsyncDisposableStack()
  let [position, encoded] = [0, 0]
  let onFolded: (message: LogMessage | undefined) => void = () => undefined
  const text = JSON.stringify({ text: 'x'.repeat(bytes) })
  const hub: StreamHub = opened.use(
    createStreamHub({
      picture: {
        position: () => position,
        isLive: () => true,
        onFolded: (listener) => {
          onFolded = listener
        },
      },
      textOf: () => {
        encoded++
        return text
      },
      gatherMs: 1,
      ...options,
    }),
  )
  const server = createServer((_request, out) => {
    out.writeHead(200, { 'content-type': 'text/event-stream' })
    out.flushHeaders()
    const listener = { out, wants: undefined, checkAgain: () => undefined }
    hub.keep(listener)
    hub.join(listener, hub.position())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const reading = { ...readingOf(1_000_000), seq: 1 }
  return {
    hub,
    port,
    url: `http://127.0.0.1:${port}/`,
    encoded: () => encoded,
    /** @param skip messages that the picture leaves out before it */
    tell: (skip = 0) => {
      position += 1 + skip
      onFolded({ readings: [reading], events: [] } as unknown as LogMessage)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function readNothing(port: number) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  return socket
}

test('whoever does not read is hung up on, and everybody else is told everything, encoded once', async () => {
  await using telling = await tellingHub(64 * 1024)
  const deaf = await readNothing(telling.port)
  using one = await listenTo(telling.url, {})
  using two = await listenTo(telling.url, {})
  await eventually('all listen', () => telling.hub.size() === 3)
  let told = 0
  await eventually('the deaf one is hung up on', async () => {
    telling.tell()
    told++
    await eventually('the others have it', () => two.events.length === told)
    return telling.hub.size() === 2
  })
  await eventually('the others have everything', () => one.events.length === told)
  expect(one.events.map(({ id }) => id)).toEqual(
    Array.from({ length: told }, (_, i) => `${i + 1}-0`),
  )
  expect(telling.encoded()).toBe(told)
  deaf.destroy()
})

test('one that stopped reading is noticed by its pings, though little is said', async () => {
  // the bound is out of reach: the pings alone must find out
  await using telling = await tellingHub(1024 * 1024, { pingMs: 20, mostUnread: 1e9 })
  const deaf = await readNothing(telling.port)
  using good = await listenTo(telling.url, {})
  await eventually('both listen', () => telling.hub.size() === 2)
  for (let told = 1; told <= 32; told++) {
    telling.tell()
    await eventually('the good one has it', () => good.events.length === told)
  }
  await eventually('the deaf one is hung up on', () => telling.hub.size() === 1)
  await eventually('the good one is pinged', () => good.comments.includes('ping'))
  await eventually('it has come to the end of the last message', () => good.lastId() === '32')
  expect(good.isClosed()).toBe(false)
  deaf.destroy()
})

test('when the live picture leaves a message out, streams end: clients come back for it', async () => {
  await using telling = await tellingHub(10)
  using stream = await listenTo(telling.url, {})
  await eventually('it listens', () => telling.hub.size() === 1)
  telling.tell()
  telling.tell(3)
  await eventually('it is closed', stream.isClosed)
  expect(stream.events.map(({ event }) => event)).toEqual(['reading', 'end'])
  expect(stream.events.at(-1)?.data).toEqual({ code: 'interrupted' })
  expect(stream.lastId()).toBe('1-0')
})
