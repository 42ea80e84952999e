import { expect, test } from 'vitest'
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
