/**
 * Readings of many sensors over NATS: a request to `air.bulk.<application>`, which the server lets only
 * that application publish to. Judged and answered as `POST /push/bulk` is; instead of a status of HTTP
 * an error has the headers of NATS's services.
 * @see https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-32.md
 */
import { randomUUID } from 'node:crypto'
import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node'
import type { Logger } from '../../runtime/log.ts'
import { bulkPrefix, bulkSubject } from '../../schemas/subjects.ts'
import type { InputGuard } from '../input-guard.ts'
import type { Accept } from './accept.ts'
import type { Endpoint } from './endpoint.ts'
import type { FloodGuard } from './flood.ts'
import { errorBody, notNow, toPushError } from './push-error.ts'
import type { Observe } from './push-metrics.ts'
import { parseBody } from './read-body.ts'

type Options = {
  readonly nc: NatsConnection
  readonly endpoint: Endpoint
  readonly accept: Accept
  readonly flood: FloodGuard
  readonly observe: Observe
  readonly guard: InputGuard
  readonly log: Pick<Logger, 'warn'>
}

/** Bodies whose readings are on their way into their streams; the next ones are sent again. */
const mostBytes = 64 * 1_024 * 1_024

export function answerBulk(options: Options): Disposable {
  const { nc, endpoint, accept, flood, observe, guard, log } = options
  let waitingBytes = 0

  const take = async (caller: string, { data }: Msg) => {
    flood(caller, data.length)
    if (waitingBytes + data.length > mostBytes)
      throw notNow(503, 'busy', 'too much is on its way: send it again', 1)
    waitingBytes += data.length
    try {
      const text = Buffer.from(data).toString()
      const body = parseBody(text, endpoint.body)
      const request = { caller, text, body, header: () => undefined, query: () => undefined }
      return await accept(endpoint, request, { protocol: 'nats', address: '', client: undefined })
    } finally {
      waitingBytes -= data.length
    }
  }
  const answer = async (message: Msg): Promise<void> => {
    const startedMs = performance.now()
    const caller = message.subject.slice(bulkPrefix.length)
    const ended = await take(caller, message).then(
      ({ body, ...accepted }) => {
        message.respond(JSON.stringify(body))
        return accepted
      },
      (thrown: unknown) => {
        const requestId = randomUUID()
        const error = toPushError(thrown)
        if (error.code === 'internal') guard.failed('push', thrown, { requestId })
        message.respond(errorBody(error, requestId), { headers: headersOf(error) })
        return { outcome: error.code, readings: 0 }
      },
    )
    observe({ ...ended, endpoint: 'bulk_nats', ms: performance.now() - startedMs })
  }
  const subscription = nc.subscribe(bulkSubject('*'), {
    queue: 'gate',
    callback: (error, message) => {
      if (error)
        log.warn(
          { err: error },
          'gateways cannot send over NATS: this server has the rights of an earlier version, see `airproof access`',
        )
      // without a subject for the answer the sender would not know what was stored
      else if (message.reply) void answer(message).catch((thrown) => guard.failed('push', thrown))
    },
  })
  return {
    [Symbol.dispose]: () => {
      if (!nc.isClosed()) subscription.unsubscribe()
    },
  }
}

function headersOf({ status, message, headers: more }: ReturnType<typeof toPushError>) {
  const all = headers()
  all.set('Nats-Service-Error-Code', String(status))
  all.set('Nats-Service-Error', message.replaceAll(/[\r\n]/g, ' '))
  const seconds = more['retry-after']
  if (seconds !== undefined) all.set('Retry-After', seconds)
  return all
}
