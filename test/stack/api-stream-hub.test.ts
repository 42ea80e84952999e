/** Clients that do not read, on real sockets; the test makes the messages. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { unavailable } from '../../api/http/api-error.ts'
import { createStreamHub, type Listener, type StreamHub } from '../../api/stream/hub.ts'
import { seqOf } from '../../core/air/reading.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { beginningOf, encodeLogCursor, type LogCursor } from '../../schemas/log/log-cursor.ts'
import { listenTo } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { readingOf, sensorNamed } from '../support/small-worker.ts'

/** One reading per message, of one partition. */
const placeAt = (position: number): LogCursor => {
  const start = beginningOf('0123456789ab')
  return { ...start, position, n: start.n.with(3, position) }
}
/** The id of the event of message `seq`. */
const idOf = (seq: number): string => encodeLogCursor({ ...placeAt(seq), position: seq - 1 })

/** A hub that sends readings of the given size whenever the test says so. */
async function testHub(
  bytes: number,
  options: { pingMs?: number; judgeMs?: number; mostUnread?: number } = {},
) {
  const opened = new AsyncDisposableStack()
  let [position, encoded, madeLean] = [0, 0, 0]
  let onFolded: (message: LogMessage | undefined) => void = () => undefined
  const text = JSON.stringify({ text: 'x'.repeat(bytes) })
  let checkAgain = (): void => undefined
  const hub: StreamHub = opened.use(
    createStreamHub({
      picture: {
        position: () => position,
        isLive: () => true,
        onFolded: (listener) => {
          onFolded = listener
        },
      },
      place: () => placeAt(position),
      textOf: () => {
        encoded++
        return text
      },
      entryOf: () => undefined,
      gatherMs: 1,
      ...options,
    }),
  )
  const server = createServer(({ url }, out) => {
    out.writeHead(200, { 'content-type': 'text/event-stream' })
    out.flushHeaders()
    const form = url === '/lean' ? 'lean' : 'whole'
    const listener: Listener = { out, wants: undefined, form, checkAgain: () => checkAgain() }
    hub.keep(listener)
    hub.join(listener, placeAt(position))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const messageOf = (n: number) => {
    const reading = {
      ...readingOf(1_000_000),
      seq: seqOf(3, n),
      // of the two forms only the lean one reads it here
      get aqi() {
        madeLean++
        return 41
      },
    }
    const readings = [reading]
    return { partition: 3, nLast: n, readings, events: [] } as unknown as LogMessage
  }
  return {
    hub,
    port,
    url: `http://127.0.0.1:${port}/`,
    /** What every listener's check does from now on. */
    checkBy: (check: () => void) => {
      checkAgain = check
    },
    encoded: () => encoded,
    madeLean: () => madeLean,
    /** @param skip messages that the picture skips before it */
    fold: (skip = 0) => {
      position += 1 + skip
      onFolded(messageOf(position))
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

test('a client that does not read is disconnected, and all others receive everything, encoded once', async () => {
  await using source = await testHub(512 * 1024)
  const stalled = await readNothing(source.port)
  using one = await listenTo(source.url, {})
  using two = await listenTo(source.url, {})
  await eventually('all listen', () => source.hub.size() === 3)
  let folded = 0
  await eventually('the stalled one is disconnected', async () => {
    source.fold()
    folded++
    await eventually('the others have it', () => two.events.length === folded)
    return source.hub.size() === 2
  })
  await eventually('the others have everything', () => one.events.length === folded)
  expect(one.events.map(({ id }) => id)).toEqual(
    Array.from({ length: folded }, (_, i) => idOf(i + 1)),
  )
  expect(source.encoded()).toBe(folded)
  stalled.destroy()
})

test('a client that reads may be sent more at once than may wait for it', async () => {
  await using source = await testHub(6 * 1024 * 1024)
  using stream = await listenTo(source.url, {})
  await eventually('it listens', () => source.hub.size() === 1)
  source.fold()
  await eventually('it has all of it', () => stream.events.length === 1)
  source.fold()
  await eventually('and what follows', () => stream.events.length === 2)
  expect(stream.isClosed()).toBe(false)
})

test('a reading is made lean once for all pages, and of what is sent together the last has the id', async () => {
  await using source = await testHub(1024)
  const pages = await Promise.all(
    Array.from({ length: 5 }, () => listenTo(`${source.url}lean`, {})),
  )
  await eventually('all listen', () => source.hub.size() === pages.length)
  for (let i = 0; i < 3; i++) source.fold()
  await eventually('all have all', () => pages.every(({ events }) => events.length === 3))
  for (const { events } of pages)
    expect(events).toEqual(
      ['', '', idOf(3)].map((id) => ({
        event: 'reading',
        id,
        data: { sensor_id: sensorNamed(1), timestamp: formatIsoMs(1_000_000), aqi: 41 },
      })),
    )
  expect([source.madeLean(), source.encoded()]).toEqual([3, 0])
  for (const page of pages) page[Symbol.dispose]()
})

test('a client that stopped reading is detected by its pings, even if little is sent', async () => {
  // the bound is out of reach: only the pings can detect it
  await using source = await testHub(1024 * 1024, { pingMs: 20, mostUnread: 1e9 })
  const stalled = await readNothing(source.port)
  using good = await listenTo(source.url, {})
  await eventually('both listen', () => source.hub.size() === 2)
  for (let folded = 1; folded <= 32; folded++) {
    source.fold()
    await eventually('the good one has it', () => good.events.length === folded)
  }
  await eventually('the stalled one is disconnected', () => source.hub.size() === 1)
  await eventually('the good one is pinged', () => good.pings() > 0)
  await eventually(
    'it has reached the end of the last message',
    () => good.lastId() === encodeLogCursor(placeAt(32)),
  )
  expect(good.isClosed()).toBe(false)
  stalled.destroy()
})

test('a stream lasts while its key is not known for a moment, and ends when that goes on', async () => {
  await using source = await testHub(10, { judgeMs: 20 })
  using stream = await listenTo(source.url, {})
  await eventually('it listens', () => source.hub.size() === 1)
  let [known, unknown, left] = [0, 0, 9]
  source.checkBy(() => {
    if (left === 0) known++
    else {
      unknown++
      left--
      throw unavailable('keys_unknown', 'not known')
    }
  })
  await eventually('it is known again', () => known > 0)
  source.fold()
  await eventually('it goes on', () => stream.events.length === 1)
  left = 10
  await eventually('it is closed', stream.isClosed)
  expect([unknown, stream.events.at(-1)?.data]).toEqual([19, { code: 'keys_unknown' }])
})

test('when the live picture skips a message, streams end: clients reconnect for it', async () => {
  await using source = await testHub(10)
  using stream = await listenTo(source.url, {})
  await eventually('it listens', () => source.hub.size() === 1)
  source.fold()
  source.fold(3)
  await eventually('it is closed', stream.isClosed)
  expect(stream.events.map(({ event }) => event)).toEqual(['reading', 'end'])
  expect(stream.events.at(-1)?.data).toEqual({ code: 'interrupted' })
  expect(stream.lastId()).toBe(idOf(1))
})
