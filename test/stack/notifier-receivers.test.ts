/** What receivers do, well or badly, as one attempt sees it; with shorter limits than in production. */

import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openSender, type SendLimits, type Sent, sendLimits } from '../../notifier/send/send.ts'
import { type PublicResolver, publicResolver } from '../../runtime/http/public-resolver.ts'
import { testAuthority } from '../support/certificates.ts'
import { startNameServer, type Zone } from '../support/name-server.ts'
import { startRawReceiver, startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const short: SendLimits = { ...sendLimits, totalMs: 400, connectMs: 250 }
const loopback = publicResolver({ allowInsecure: true })

type How = {
  readonly limits?: SendLimits
  readonly resolver?: PublicResolver
  readonly ca?: string
  readonly signal?: AbortSignal
}

async function post(url: string, how: How = {}): Promise<Sent> {
  await using sender = openSender({
    resolver: how.resolver ?? loopback,
    limits: how.limits ?? short,
    ca: how.ca,
  })
  return await sender.send({
    webhook: 1,
    url,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"a":1}'),
    signal: how.signal ?? new AbortController().signal,
  })
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const saying = (text: string, then?: (socket: Socket) => void) => (socket: Socket) => {
  socket.write(text)
  then?.(socket)
}

type Row = readonly [
  what: string,
  behave: (socket: Socket) => void,
  status: number | undefined,
  error: string | undefined,
]
const rows: readonly Row[] = [
  ['answers plainly', saying(ok), 200, undefined],
  ['says nothing', () => undefined, undefined, 'timeout'],
  ['hangs after the status line', saying('HTTP/1.1 200 OK\r\n'), undefined, 'timeout'],
  [
    'hangs after the headers',
    saying('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n'),
    200,
    'timeout',
  ],
  [
    'hangs in the middle of a chunk',
    saying('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc'),
    200,
    'timeout',
  ],
  ['closes before it answers', (socket) => void socket.end(), undefined, 'closed'],
  ['resets before it answers', (socket) => void socket.resetAndDestroy(), undefined, 'closed'],
  [
    'closes in the middle of the headers',
    saying('HTTP/1.1 200 OK\r\ncont', (s) => s.end()),
    undefined,
    'closed',
  ],
  [
    'promises more bytes than it sends',
    saying('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok', (s) => s.end()),
    200,
    'closed',
  ],
  [
    'sends more bytes than it promised',
    saying('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokokok'),
    200,
    undefined,
  ],
  [
    'names two lengths',
    saying('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok'),
    undefined,
    'protocol',
  ],
  [
    'gives a length that is not a number',
    saying('HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\nok'),
    undefined,
    'protocol',
  ],
  [
    'speaks HTTP/1.0 and closes',
    saying('HTTP/1.0 200 OK\r\n\r\nok', (s) => s.end()),
    200,
    undefined,
  ],
  ['does not speak HTTP', saying('SSH-2.0-OpenSSH_9.9\r\n'), undefined, 'protocol'],
  [
    'answers 204 with a body all the same',
    saying('HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok'),
    204,
    undefined,
  ],
  [
    'redirects to a private address',
    saying('HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n'),
    302,
    undefined,
  ],
  [
    'sends early hints first',
    saying(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${ok}`),
    200,
    undefined,
  ],
  [
    'sends 100 MB of headers',
    saying(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`),
    undefined,
    'protocol',
  ],
]

test.each(rows)('a receiver that %s', async (_what, behave, status, error) => {
  await using receiver = await startRawReceiver(behave)
  const sent = await post(receiver.url)
  expect([sent.answer?.status, sent.error?.kind]).toEqual([status, error])
  expect(sent.address).toBe('127.0.0.1')
  expect(receiver.requests()).toBe(1)
})

test('a receiver that sends an unrequested 100 Continue is not taken for a success', async () => {
  await using receiver = await startRawReceiver(saying(`HTTP/1.1 100 Continue\r\n\r\n${ok}`))
  const sent = await post(receiver.url)
  expect([sent.answer?.status, sent.error?.kind]).toEqual([undefined, 'protocol'])
})

test('a receiver that drips a byte at a time has as long as any other', async () => {
  await using receiver = await startRawReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
    const drip = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(drip))
  })
  const sent = await post(receiver.url)
  expect(sent.error?.kind).toBe('timeout')
  expect(sent.timings.totalMs).toBeLessThan(short.totalMs * 4)
})

test('an answer without end is read to 64 KiB, its status counts, and the connection is closed', async () => {
  let written = 0
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  await using receiver = await startRawReceiver((socket) => {
    socket.on('close', () => resolve())
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n')
    const pour = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 120))) written += 65_536
    }
    socket.on('drain', pour)
    pour()
  })
  const sent = await post(receiver.url, { limits: { ...short, totalMs: 10_000 } })
  await closed
  expect([sent.answer?.status, sent.error, sent.answer?.isTruncated]).toEqual([
    200,
    undefined,
    true,
  ])
  expect(sent.answer?.body.length).toBe(8 * 1_024)
  expect(written).toBeLessThan(50_000_000)
})

test('a compressed answer stays as it is, however large it would become', async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000))
  await using receiver = await startReceiver({
    answer: (response) =>
      void response
        .writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length })
        .end(bomb),
  })
  const sent = await post(receiver.url, { limits: { ...short, totalMs: 10_000 } })
  expect(sent.error).toBeUndefined()
  expect(Buffer.from(sent.answer?.body ?? [])).toEqual(bomb.subarray(0, 8 * 1_024))
})

test('a webhook that changes while an attempt is under way can end it', async () => {
  const change = new AbortController()
  await using receiver = await startRawReceiver(() => change.abort())
  const sent = await post(receiver.url, { signal: change.signal, limits: sendLimits })
  expect(sent.error?.kind).toBe('cancelled')
})

test('a closed port: the reason is named', async () => {
  const gone = await startReceiver()
  await gone[Symbol.asyncDispose]()
  expect((await post(gone.url)).error?.kind).toBe('connect')
})

test('TLS is verified: authority, name and time', async () => {
  using folder = temporaryFolder()
  const authority = testAuthority(folder.path)
  const good = authority.issue({ name: 'hooks.example.com' })
  const expired = authority.issue({
    name: 'hooks.example.com',
    validity: ['20200101000000Z', '20200201000000Z'],
  })
  const early = authority.issue({
    name: 'hooks.example.com',
    validity: ['20990101000000Z', '20990201000000Z'],
  })
  const other = authority.issue({ name: 'other.example.com' })
  await using names = await startNameServer((_, type) => (type === 'A' ? ['127.0.0.1'] : []))
  const resolver = publicResolver({ allowInsecure: true, servers: [names.address] })
  const limits = { ...short, totalMs: 10_000, connectMs: 5_000 }
  const outcome = async (tls: typeof good, ca?: string) => {
    await using receiver = await startReceiver({ tls })
    const url = `https://hooks.example.com:${receiver.port}/`
    const sent = await post(url, { resolver, limits, ...(ca === undefined ? {} : { ca }) })
    return [sent.answer?.status ?? sent.error?.kind, receiver.received.length]
  }
  expect(await outcome(good, authority.ca)).toEqual([200, 1])
  expect(await outcome(good)).toEqual(['tls', 0])
  expect(await outcome(expired, authority.ca)).toEqual(['tls', 0])
  expect(await outcome(early, authority.ca)).toEqual(['tls', 0])
  expect(await outcome(other, authority.ca)).toEqual(['tls', 0])
})

test('a TLS handshake that hangs ends with the time for connecting', async () => {
  await using receiver = await startRawReceiver(() => undefined)
  const sent = await post(receiver.url.replace('http:', 'https:'), {
    limits: { ...short, totalMs: 5_000 },
  })
  expect(sent.error?.kind).toBe('connect_timeout')
})

const zones: Record<string, Zone> = {
  'one.private.example': (_, type) => (type === 'A' ? ['10.0.0.1'] : []),
  'mixed.example': (_, type) => (type === 'A' ? ['8.8.8.8', '127.0.0.1'] : []),
  'mixed6.example': (_, type) => (type === 'A' ? ['8.8.8.8'] : ['fd00::1']),
  'mapped.example': (_, type) => (type === 'AAAA' ? ['::ffff:7f00:1'] : []),
  'metadata.example': (_, type) => (type === 'A' ? ['169.254.169.254'] : []),
  'rebinding.example': (_, type, query) =>
    type !== 'A' ? [] : [query === 1 ? '8.8.8.8' : '127.0.0.1'],
  'nothing.example': () => [],
  'silent.example': () => 'silent',
}
const zone: Zone = (name, type, query) => zones[name]?.(name, type, query) ?? []

test.each([
  ['one.private.example', 'blocked_address'],
  ['mixed.example', 'blocked_address'],
  ['mixed6.example', 'blocked_address'],
  ['mapped.example', 'blocked_address'],
  ['metadata.example', 'blocked_address'],
  ['nothing.example', 'dns'],
  ['silent.example', 'dns'],
])('the name %s is not dialled: %s', async (name, kind) => {
  await using names = await startNameServer(zone)
  await using receiver = await startRawReceiver(saying(ok))
  const resolver = publicResolver({ allowInsecure: false, servers: [names.address] })
  const sent = await post(`http://${name}:${receiver.port}/`, { resolver })
  expect(sent.error?.kind).toBe(kind)
  expect(receiver.requests()).toBe(0)
})

test('a name that was public when it was judged is judged again when it is dialled', async () => {
  await using names = await startNameServer(zone)
  await using receiver = await startRawReceiver(saying(ok))
  const resolver = publicResolver({ allowInsecure: false, servers: [names.address] })
  expect(await resolver.resolve('rebinding.example')).toEqual({ addresses: ['8.8.8.8'] })
  const sent = await post(`http://rebinding.example:${receiver.port}/`, { resolver })
  expect(sent.error?.kind).toBe('blocked_address')
  expect(receiver.requests()).toBe(0)
})

test("the socket's actual peer counts, whatever the resolver returned", async () => {
  await using receiver = await startRawReceiver(saying(ok))
  const lying: PublicResolver = {
    resolve: async () => ({ addresses: ['127.0.0.1'] }),
    mayDial: publicResolver({ allowInsecure: false }).mayDial,
  }
  const sent = await post(receiver.url, { resolver: lying })
  expect(sent.error?.kind).toBe('blocked_address')
  expect(receiver.requests()).toBe(0)
})
