/**
 * The admin port, for supervisors and monitoring: `/health` (the event loop runs), `/ready`
 * (everything it depends on responds) and `/metrics` (Prometheus text).
 */
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { listenOn } from '../http/listen.ts'
import { createServer } from '../http/node-http.ts'
import type { Registry } from '../prometheus.ts'

export type ReadyCheck = {
  readonly name: string
  /** Resolves if fine; otherwise the response shows its error's message. */
  readonly check: () => void | Promise<void>
}

export type Admin = AsyncDisposable & { readonly url: string }

/** The admin port of a process from its start. Until it serves, `/ready` reports what it waits for. */
export type Door = Admin & {
  /** Why the start takes long, or undefined if nothing blocks it. */
  readonly waitsFor: (why: string | undefined) => void
  /** From now on these checks decide whether it is ready, until the returned function is called. */
  readonly serve: (serving: Serving) => () => void
  /** The checks that fail now, for people; undefined: it is ready. */
  readonly whyNotReady: () => Promise<string | undefined>
}

type Serving = { readonly ready: readonly ReadyCheck[]; readonly metrics: Registry }

type Address = {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

type AdminOptions = Address &
  Serving & {
    /** Already open (`process-door.ts`); otherwise one is opened on the address. */
    readonly door?: Door | undefined
  }

/** A check that takes longer counts as failed. */
const checkWithinMs = 2_000

export async function openAdmin({
  door,
  ready,
  metrics,
  ...address
}: AdminOptions): Promise<Admin> {
  const own = door === undefined ? await openDoor(address) : undefined
  const open = door ?? own
  const end = open?.serve({ ready, metrics })
  return {
    url: open?.url ?? '',
    [Symbol.asyncDispose]: async () => {
      end?.()
      await own?.[Symbol.asyncDispose]()
    },
  }
}

export async function openDoor({ host, port }: Address): Promise<Door> {
  let waiting: string | undefined
  let serving: Serving | undefined
  const start: ReadyCheck = {
    name: 'start',
    check: () => {
      throw new Error(waiting ?? 'starting')
    },
  }
  const checks = (): readonly ReadyCheck[] => serving?.ready ?? [start]
  const routes: Record<string, () => Promise<Answer>> = {
    '/health': async () => json(200, { status: 'ok' }),
    '/ready': async () => {
      const verdicts = await verdictsOf(checks())
      const isReady = verdicts.every(([, state]) => state === 'ok')
      return json(isReady ? 200 : 503, { ready: isReady, checks: Object.fromEntries(verdicts) })
    },
    '/metrics': async () => ({
      status: 200,
      type: serving?.metrics.contentType ?? 'text/plain; charset=utf-8',
      body: (await serving?.metrics.metrics()) ?? '',
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
    waitsFor: (why) => {
      waiting = why
    },
    serve: (next) => {
      serving = next
      return () => {
        serving = undefined
        waiting = 'stopping'
      }
    },
    whyNotReady: async () => notReadyInWords(await verdictsOf(checks())),
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

/** Each check by name with `ok` or what is wrong. */
const verdictsOf = async (checks: readonly ReadyCheck[]): Promise<readonly Verdict[]> =>
  await Promise.all(checks.map(async ({ name, check }) => [name, await verdict(check)] as const))

type Verdict = readonly [name: string, state: string]

/** The failed checks of `/ready`, as a clause; undefined: all are fine. */
export function notReadyInWords(verdicts: readonly Verdict[]): string | undefined {
  const wrong = verdicts.filter(([, state]) => state !== 'ok')
  const reasons = wrong.map(([name, state]) => (name === 'start' ? state : `${name}: ${state}`))
  return reasons.length === 0 ? undefined : reasons.join('; ')
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
