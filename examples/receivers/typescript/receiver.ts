/**
 * A receiver of webhooks that believes only what is signed:
 *
 *     WEBHOOK_SECRET=whsec_… PORT=9000 node receiver.ts
 *
 * Prints a line of JSON for each delivery; what came before is answered and not printed as new.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { env, exit, stdout } from 'node:process'
import { verifyService, verifyStandard } from './verify-webhook.ts'

const { WEBHOOK_SECRET: secret = '', SIGNATURE_HEADER: header = 'X-Service-Signature' } = env
if (secret === '') {
  stdout.write('set WEBHOOK_SECRET to the secret that was shown when the webhook was made\n')
  exit(2)
}

type Payload = {
  readonly event: string
  readonly timestamp: string
  readonly data: { readonly sensor_id: string }
}

const longestBody = 1024 * 1024
/** Deliveries come at least once: the id says which are the same. */
const seen = new Set<string>()
const mostSeen = 10_000

async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > longestBody) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function isRepeat(id: string): boolean {
  if (seen.has(id)) return true
  seen.add(id)
  const [oldest] = seen
  if (seen.size > mostSeen && oldest !== undefined) seen.delete(oldest)
  return false
}

async function answer(request: IncomingMessage): Promise<number> {
  const body = await readBody(request)
  if (body === undefined) return 413
  const delivery = { headers: request.headers, body, secret, nowMs: Date.now() }
  const standard = verifyStandard(delivery)
  const service = verifyService(delivery, header)
  const refused = [standard, service].find((verdict) => !verdict.ok)
  if (!standard.ok || refused !== undefined) {
    stdout.write(`${JSON.stringify({ refused: refused && !refused.ok ? refused.reason : '' })}\n`)
    return 401
  }
  const payload: Payload = JSON.parse(Buffer.from(body).toString())
  const { event, timestamp, data } = payload
  const { id } = standard
  const repeat = isRepeat(id)
  stdout.write(`${JSON.stringify({ id, event, timestamp, sensor: data.sensor_id, repeat })}\n`)
  return 204
}

const server = createServer((request, response) => {
  answer(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(400).end(),
  )
})
server.listen(Number(env['PORT'] ?? 9000), '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') stdout.write(`listening on http://127.0.0.1:${address?.port}\n`)
})
