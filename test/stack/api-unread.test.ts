import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createApp } from '../../api/app.ts'
import { jsonType } from '../../api/http/answer.ts'
import { unreadBounds } from '../../api/http/unread-answers.ts'
import { openHttpServer } from '../../api/open-server.ts'
import { eventually } from '../support/eventually.ts'

/** More than a socket's buffers hold on any machine: bytes in them are no longer counted. */
const pageBytes = 48 * 1024 * 1024
/** Compressed, it is three quarters of that. */
const page = Buffer.from(randomBytes((pageBytes * 3) / 4).toString('base64'))
const accountOf = (authorization = ''): string => authorization.replace('Bearer ', '')

/** Each key has its own account, and each answer is a large page. */
async function open() {
  const app = createApp({
    digest: () => 'same',
    routes: [
      {
        path: '/page',
        params: [],
        types: [jsonType],
        answer: () => ({ type: jsonType, body: page, isKept: true }),
      },
    ],
    admit: async ({ authorization }) => ({
      caller: {
        key: 'key',
        keyHash: '',
        account: accountOf(authorization),
        isInternal: false,
        isVisitor: false,
        checkAgain: () => undefined,
      },
      headers: {},
      refund: () => undefined,
    }),
    observe: () => undefined,
  })
  const handle = app.callback()
  return await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    listener: (request, response) => void handle(request, response),
  })
}

test.each(['identity', 'gzip'])(
  'an account whose answers wait to be read gets no more, and others do (%s)',
  async (coding) => {
    await using server = await open()
    const { hostname, port } = new URL(server.url)
    const ask = async (account: string): Promise<number> => {
      const answer = await fetch(`${server.url}/page`, {
        headers: { authorization: `Bearer ${account}`, 'accept-encoding': coding },
      })
      await answer.arrayBuffer()
      return answer.status
    }
    const slow: Socket[] = []
    using closing = new DisposableStack()
    await eventually('it is refused', async () => {
      const socket = connect(Number(port), hostname)
      socket.pause()
      await once(socket, 'connect')
      socket.write(
        `GET /page HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ada\r\nAccept-Encoding: ${coding}\r\n\r\n`,
      )
      slow.push(socket)
      closing.defer(() => socket.destroy())
      // 408: the machine had no time for this one
      return (await ask('ada')) === 429
    })
    expect(slow.length).toBeGreaterThanOrEqual(unreadBounds.each / pageBytes)
    expect(await ask('bob')).toBe(200)
    for (const socket of slow) socket.destroy()
    await eventually('its bytes are freed', async () => (await ask('ada')) === 200)
  },
)
