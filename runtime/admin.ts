/**
 * The door for whoever keeps the process alive: `/health` (the event loop turns), `/ready`
 * (everything it needs answers) and `/metrics` (Prometheus text).
 */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Registry } from 'prom-client'
import { listenOn } from './listen.ts'

export type ReadyCheck = {
  readonly name: string
  /** Resolves when fine; its error's message is shown to whoever asks. */
  readonly check: () => void | Promise<void>
}

export type Admin = AsyncDisposable & { readonly url: string }

type AdminOptions = {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly ready: readonly ReadyCheck[]
  readonly metrics: Registry
}

/** A check that has not answered by then counts as failed. */
const checkWithinMs = 2_000

export async function openAdmin({ host, port, ready, metrics }: AdminOptions): Promise<Admin> {
  const routes: Record<string, () => Promise<Answer>> = {
    '/health': async () => json(200, { status: 'ok' }),
    '/ready': () => readiness(ready),
    '/metrics': async () => ({
      status: 200,
      type: metrics.contentType,
      body: await metrics.metrics(),
    }),
  }
  const answer: RequestListener = (request, response) => {
    const route = routes[request.url?.split('?')[0] ?? '']
    const work = route ? route() : Promise.resolve(json(404, { error: 'not found' }))
    void work
      .catch((error: unknown) => json(500, { error: String(error) }))
      .then(({ status, type, body }) => {
        response.writeHead(status, { 'content-type': type })
        response.end(request.method === 'HEAD' ? undefined : body)
      })
  }
  const server = createServer(answer)
  const url = await listenOn(server, { host, port, setting: 'AIRPROOF_ADMIN_PORT' })
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

type Answer = { readonly status: number; readonly type: string; readonly body: string }

const json = (status: number, value: unknown): Answer => ({
  status,
  type: 'application/json; charset=utf-8',
  body: `${JSON.stringify(value)}\n`,
})

/** 200 when all is fine, else 503; either way each check by name with `ok` or what is wrong. */
async function readiness(ready: readonly ReadyCheck[]): Promise<Answer> {
  const verdicts = await Promise.all(
    ready.map(async ({ name, check }) => [name, await verdict(check)] as const),
  )
  const isReady = verdicts.every(([, state]) => state === 'ok')
  return json(isReady ? 200 : 503, { ready: isReady, checks: Object.fromEntries(verdicts) })
}

async function verdict(check: ReadyCheck['check']): Promise<string> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`no answer within ${checkWithinMs} ms`)),
    checkWithinMs,
  )
  try {
    await Promise.race([Promise.resolve().then(check), late])
    return 'ok'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}
