import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { openHttpServer } from '../../api/open-server.ts'
import { mostAhead } from '../../runtime/http/one-at-a-time.ts'
import { eventually } from '../support/eventually.ts'

const limits = { requestMs: 200, idleMs: 300 }
const openWith = (listener: RequestListener) =>
  openHttpServer({ host: '127.0.0.1', port: 0, listener, limits })

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

test('a client that never ends its request gets a 408 and is disconnected', async () => {
  await using server = await openWith((_request, response) => void response.end('done'))
  const socket = await open(server.url)
  const received: Buffer[] = []
  socket.on('data', (bytes: Buffer) => received.push(bytes))
  socket.write(request.slice(0, -2))
  await once(socket, 'close')
  expect(Buffer.concat(received).toString()).toMatch(/^HTTP\/1\.1 408 .*"code":"too_slow"/s)
})

test('a client that does not read its answer is disconnected', async () => {
  const closed = Promise.withResolvers<boolean>()
  await using server = await openWith((_request, response) => {
    response.on('close', () => closed.resolve(response.writableFinished))
    response.end(Buffer.alloc(64 * 1024 * 1024))
  })
  const socket = await open(server.url)
  socket.pause()
  socket.write(request)
  expect(await closed.promise).toBe(false)
  socket.destroy()
})

test('an answer under way is sent before the server closes', async () => {
  const requested = Promise.withResolvers<() => void>()
  const server = await openWith((_request, response) =>
    requested.resolve(() => void response.end('done')),
  )
  const answering = fetch(server.url)
  const answer = await requested.promise
  const closing = server[Symbol.asyncDispose]()
  answer()
  expect(await (await answering).text()).toBe('done')
  await closing
  await expect(fetch(server.url)).rejects.toThrow('fetch failed')
})

test('a request under way is answered 503 before its socket is closed', async () => {
  const late = Promise.withResolvers<ServerResponse>()
  await using server = await openWith((_request, response) => late.resolve(response))
  const answer = await fetch(server.url)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  expect(await answer.json()).toMatchObject({ status: 'error', error: { code: 'took_too_long' } })
  expect((await late.promise).writableEnded).toBe(true)
})

test('a socket that never sends a request is closed', async () => {
  await using server = await openWith((_request, response) => void response.end('done'))
  const socket = await open(server.url)
  socket.resume()
  await once(socket, 'close')
  expect(socket.bytesWritten).toBe(0)
})

test('one network holds as many connections as it may, and its next one is closed at once', async () => {
  await using server = await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    listener: (_request, response) => void response.end('done'),
    limits: { requestMs: 5_000, idleMs: 5_000 },
    connections: { fromPublic: 1, fromInside: 3 },
  })
  // slow on purpose: a line that does not end
  const slow = await Promise.all(Array.from({ length: 3 }, () => open(server.url)))
  for (const socket of slow) socket.write('GET / HTTP/1.1\r\nHo')
  const next = await open(server.url)
  await once(next, 'close')
  const [first] = slow
  first?.destroy()
  const answered = await eventually('there is room again', async () => {
    const answer = await fetch(server.url).catch(() => undefined)
    return answer?.text()
  })
  expect(answered).toBe('done')
  for (const socket of slow) socket.destroy()
})

test('what a client sends ahead of an answer waits for its turn', async () => {
  const requested: string[] = []
  const first = Promise.withResolvers<ServerResponse>()
  await using server = await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    listener: ({ url = '' }, response) => {
      requested.push(url)
      if (url === '/0') first.resolve(response)
      else response.end(url)
    },
  })
  const socket = await open(server.url)
  const received: Buffer[] = []
  socket.on('data', (bytes: Buffer) => received.push(bytes))
  const ahead = [1, 2, 3].map((n) => request.replace('/', `/${n}`))
  socket.write([request.replace('/', '/0'), ...ahead].join(''))
  const slow = await first.promise
  // the server has the others too: they arrived in the same packet
  await fetch(`${server.url}/other`)
  expect(requested).toEqual(['/0', '/other'])
  slow.end('/0')
  await eventually('all are answered', async () =>
    Buffer.concat(received).toString().endsWith('/3'),
  )
  expect(requested).toEqual(['/0', '/other', '/1', '/2', '/3'])
  socket.destroy()
})

test('a client that sends too many requests ahead of an answer is disconnected', async () => {
  let requested = 0
  await using server = await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    // a stream
    listener: (_request, response) => {
      requested++
      response.write('begun')
    },
  })
  const socket = await open(server.url)
  const closed = once(socket, 'close')
  socket.resume()
  socket.write(request.repeat(mostAhead + 2))
  await closed
  expect(requested).toBe(1)
})
