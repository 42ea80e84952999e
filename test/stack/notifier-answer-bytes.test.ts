/** How much a hostile receiver can make the notifier read, whatever it sends. */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { expect, test } from 'vitest'
import { openSender, type Sender, type Sent, sendLimits } from '../../notifier/send/send.ts'
import { publicResolver } from '../../runtime/http/public-resolver.ts'
import { testAuthority } from '../support/certificates.ts'
import { startNameServer } from '../support/name-server.ts'
import { startRawReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KiB = 1_024
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
/** This many bytes of each kind, and then the end of a valid answer. */
const kinds: Readonly<Record<string, (bytes: number) => string>> = {
  'chunk extensions': (bytes) => `${chunked}2;${'x'.repeat(bytes)}\r\nok\r\n0\r\n\r\n`,
  'interim answers': (bytes) => {
    const hint = `HTTP/1.1 103 Early Hints\r\nlink: </${'x'.repeat(990)}>\r\n\r\n`
    return `${hint.repeat(bytes / hint.length)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`
  },
}

const post = (sender: Sender, to: string): Promise<Sent> =>
  sender.send({
    webhook: 1,
    url: to,
    headers: {},
    body: Buffer.from('{}'),
    signal: new AbortController().signal,
  })
const plainSender = (): Sender =>
  openSender({ resolver: publicResolver({ allowInsecure: true }), limits: sendLimits })

test.each(Object.entries(kinds))(
  'at 256 KiB of %s the connection is closed, and the attempt names the reason',
  async (_kind, answerOf) => {
    let bytes = 180 * KiB
    await using receiver = await startRawReceiver((socket) => void socket.write(answerOf(bytes)))
    await using sender = plainSender()
    const good = await post(sender, receiver.url)
    expect([good.answer?.status, good.error]).toEqual([200, undefined])
    // one read of 64 KiB may be added; without a bound this would be a valid answer too
    bytes = 400 * KiB
    const bad = await post(sender, receiver.url)
    expect(bad.error).toEqual({
      kind: 'protocol',
      detail: 'ANSWER_TOO_LARGE: the receiver sent 256 KiB or more in one answer',
    })
  },
)

test('a kept-alive connection has its 256 KiB for each exchange', async () => {
  const answer = kinds['chunk extensions']?.(150 * KiB) ?? ''
  const exchanges = new Map<Socket, number>()
  await using receiver = await startRawReceiver((socket) => {
    exchanges.set(socket, (exchanges.get(socket) ?? 0) + 1)
    socket.write(answer)
  })
  await using sender = plainSender()
  for (let n = 0; n < 6; n++) {
    const sent = await post(sender, receiver.url)
    expect([n, sent.answer?.status, sent.error]).toEqual([n, 200, undefined])
  }
  // 450 KiB at least through one of them
  expect(Math.max(...exchanges.values())).toBeGreaterThanOrEqual(3)
})

test('with TLS the bytes of the wire count', async () => {
  using folder = temporaryFolder()
  const authority = testAuthority(folder.path)
  const pair = authority.issue({ name: 'hooks.example.com' })
  await using names = await startNameServer((_, type) => (type === 'A' ? ['127.0.0.1'] : []))
  let bytes = 100 * KiB
  const server = createTlsServer(pair, (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', () => void socket.write(kinds['chunk extensions']?.(bytes) ?? ''))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const resolver = publicResolver({ allowInsecure: true, servers: [names.address] })
  {
    await using sender = openSender({ resolver, limits: sendLimits, ca: authority.ca })
    const to = `https://hooks.example.com:${port}/`
    const good = await post(sender, to)
    expect([good.answer?.status, good.error]).toEqual([200, undefined])
    bytes = 400 * KiB
    expect((await post(sender, to)).error?.kind).toBe('protocol')
  }
  server.close()
  await once(server, 'close')
})
