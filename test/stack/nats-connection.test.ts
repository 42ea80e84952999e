import { once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { MustAct } from '../../runtime/exit.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'

test('without a known address the error says what to do', async () => {
  await expect(connectNats({ natsUrl: undefined }, { name: 'test' })).rejects.toThrow(MustAct)
})

test('a process that is to stop does not wait for an unavailable server', async () => {
  const stop = new AbortController()
  const natsUrl = `nats://127.0.0.1:${await freePort()}`
  const connecting = connectNats({ natsUrl }, { name: 'test', stop: stop.signal })
  stop.abort()
  await expect(connecting).rejects.toThrow('stopped before NATS responded')
})

test('a connection survives a killed server, and requests meanwhile fail', async () => {
  await using nats = await testNats()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const echo = nc.subscribe('echo', { callback: (_error, message) => void message.respond('yes') })
  resources.defer(() => echo.unsubscribe())
  const ask = () => nc.request('echo').then((answer) => answer.string())
  expect(await ask()).toBe('yes')
  await nats.kill()
  await expect(ask()).rejects.toThrow(/disconnect|timeout|no responders/i)
  await nats.restart()
  expect(await eventually('it answers again', () => ask().catch(() => undefined))).toBe('yes')
})

test('a connection survives a silent server, too', async () => {
  await using nats = await testNats()
  await using resources = new AsyncDisposableStack()
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  nats.freeze()
  await expect(nc.request('anything')).rejects.toThrow(/timeout|disconnect/i)
  nats.thaw()
  await eventually('it answers again', () =>
    nc.flush().then(
      () => true,
      () => false,
    ),
  )
  expect(nc.isClosed()).toBe(false)
})

test('a server that closes the connection while the client does ends no process', async () => {
  // the least that a NATS server says; after `last` it closes its side
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.write('INFO {"server_id":"x","version":"2.11.0","proto":1,"max_payload":1000000}\r\n')
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        if (data.includes('PING')) socket.write('PONG\r\n')
        if (data.includes('last')) socket.end()
      })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  await using _server = { [Symbol.asyncDispose]: async () => void server.close() }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on TCP
  const { port } = server.address() as AddressInfo
  const nc = await connectNats({ natsUrl: `nats://127.0.0.1:${port}` }, { name: 'test' })
  // the client ends its side too, and at that moment writes and closes
  // oxlint-disable-next-line typescript/unbound-method -- it is applied to its own socket
  const { end } = Socket.prototype
  const ended = Promise.withResolvers<void>()
  const ending = vi.spyOn(Socket.prototype, 'end').mockImplementation(function (
    this: Socket,
    ...last
  ) {
    end.apply(this, last)
    if (this.remotePort === port) {
      nc.publish('more')
      ended.resolve()
    }
    return this
  })
  nc.publish('last')
  await ended.promise
  const strayed = vi.fn<() => void>()
  process.once('uncaughtExceptionMonitor', strayed)
  await nc.close()
  ending.mockRestore()
  await new Promise(setImmediate)
  process.off('uncaughtExceptionMonitor', strayed)
  expect(strayed).not.toHaveBeenCalled()
})
