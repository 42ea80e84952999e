import { createHash } from 'node:crypto'
import { secondMs } from '../../core/time.ts'
import { createCache } from '../../runtime/cache.ts'
import { away } from './refusal.ts'
import type { DashboardRoute } from './route.ts'

type Options = {
  /** The API as this process reaches it. */
  readonly apiUrl: string
  readonly nowMs: () => number
}

/** However many ask us, the API is asked once in this time. */
const keptMs = 10 * secondMs
const answerWithinMs = 5 * secondMs

/** The API's own answer about the network, at the address that the dashboard's host has for it too. */
export function networkRoute({ apiUrl, nowMs }: Options): DashboardRoute {
  const keep = createCache({ forMs: keptMs, most: 1, nowMs })
  return {
    method: 'GET',
    path: '/.well-known/airproof.json',
    needs: 'none',
    handle: async (ctx) => {
      const body = await keep({ what: 'network' }, () => askNetwork(apiUrl))
      const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
      ctx.set({ 'cache-control': 'no-cache', etag })
      ctx.type = 'application/json'
      if (ctx.get('if-none-match') === etag) ctx.status = 304
      return ctx.status === 304 ? undefined : body
    },
  }
}

/** @throws Refusal 503 */
async function askNetwork(apiUrl: string): Promise<string> {
  try {
    const answer = await fetch(`${apiUrl}/v1/network`, {
      signal: AbortSignal.timeout(answerWithinMs),
    })
    if (answer.ok) return await answer.text()
    throw new Error(`the API answered ${answer.status}`)
  } catch (cause) {
    throw away('api_away', 'the API does not answer right now', cause)
  }
}
