import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { openHttpServer } from '../../api/http-server.ts'

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

test('whoever never ends its request is told so and hung up on', async () => {
  await using server = await openWith((_request, response) => void response.end('done'))
  const socket = await open(server.url)
  const heard: Buffer[] = []
  socket.on('data', (bytes: Buffer) => heard.push(bytes))
  socket.write(request.slice(0, -2))
  await once(socket, 'close')
  expect(Buffer.concat(heard).toString()).toMatch(/^HTTP\/1\.1 408 .*"code":"too_slow"/s)
})

test('whoever does not read its answer is hung up on', async () => {
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

test('an answer under way is given before the server closes', async () => {
  const asked = Promise.withResolvers<() => void>()
  const server = await openWith((_request, response) =>
    asked.resolve(() => void response.end('done')),
  )
  const answering = fetch(server.url)
  const answer = await asked.promise
  const closing = server[Symbol.asyncDispose]()
  answer()
  expect(await (await answering).text()).toBe('done')
  await closing
  await expect(fetch(server.url)).rejects.toThrow('fetch failed')
})
