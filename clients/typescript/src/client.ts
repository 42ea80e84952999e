import createClient, { type Client } from 'openapi-fetch'
import {
  type Network,
  readNetwork,
  type Verification,
  type VerifyOptions,
  verifyBundle,
} from '../verifier/airproof-verify.js'
import { ApiError } from './errors.ts'
import { type Pages, pagesOf } from './pages.ts'
import { type Fetch, type RetryBounds, retrying } from './retry.ts'
import type { components, operations, paths } from './schema.ts'
import { eventsOf, type StreamEvent } from './stream.ts'

type Schemas = components['schemas']
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>
/** What the iterators fill in themselves, or what asks for another item. */
type OfOnePage = 'cursor' | 'limit' | 'shape' | 'format' | 'fields'
type Filter<Name extends keyof operations> = Omit<Query<Name>, OfOnePage>

export type Settings = {
  /** The server's address, such as `https://air.example`. */
  readonly url: string
  /** An API key, `aqk_…`; proofs and the network need none. */
  readonly key?: string
  readonly retry?: RetryBounds
  /** Another fetch, for tests or proxies. */
  readonly fetch?: Fetch
}

export type Airproof = {
  /** Every operation of the document, typed: `api.GET('/v1/areas/{area_name}', …)`. */
  readonly api: Client<paths>
  readonly readings: (filter?: Filter<'listReadings'>) => Pages<Schemas['Reading']>
  readonly sensors: (filter?: Filter<'listSensors'>) => Pages<Schemas['Sensor']>
  readonly deliveries: (
    webhook: string,
    filter?: Filter<'listDeliveries'>,
  ) => Pages<Schemas['DeliveriesPage']['deliveries'][number]>
  /**
   * Pages of what was accepted since `after`, until you have everything. Keep `next_cursor` of each
   * page together with its readings: `changes(kept)` goes on from there tomorrow, and
   * `stream({}, { lastEventId: kept })` at once. Without `after` it begins with what is accepted from
   * now on; with `start` with the oldest that the log holds. A page whose `gap` is not null passed
   * something over, and says where that is.
   */
  readonly changes: (
    after?: string,
    filter?: Pick<Query<'listChanges'>, 'sensor_id' | 'area' | 'index'>,
  ) => AsyncIterable<Schemas['ChangesPage']>
  /** What happens, as it happens. After a connection that broke it goes on where it was. */
  readonly stream: (
    filter?: Omit<Query<'stream'>, 'last_event_id' | 'token'>,
    options?: { readonly lastEventId?: string; readonly signal?: AbortSignal },
  ) => AsyncIterable<StreamEvent>
  /**
   * Fetches the proof of a reading and checks it here; the server is not asked whether it is true.
   * Without `network`, read from a file that you kept, the network is the server's own word.
   */
  readonly verify: (
    sensorId: string,
    timestamp: string | Date,
    options?: VerifyOptions,
  ) => Promise<Verification>
  /** What the server says about its network, as verifiers take it. */
  readonly network: () => Promise<Network>
}

type Given = Readonly<Record<string, string | number | boolean | undefined>>

const mostInPage = 1_000
const mostChanges = 5_000

export function airproof({ url, key, retry = {}, fetch: given }: Settings): Airproof {
  // as a function of its own: a browser's fetch must not be called as a method
  const fetch: Fetch = given ?? ((request) => globalThis.fetch(request))
  const send = retrying(fetch, retry)
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const base = url.replace(/\/+$/, '')

  const requestOf = (
    path: string,
    query: Given,
    accept: string,
    init: { readonly signal?: AbortSignal } = {},
  ): Request => {
    const target = new URL(`${base}${path}`)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) target.searchParams.set(name, String(value))
    }
    return new Request(target, { ...init, headers: { ...authorization, accept } })
  }
  const read = async (path: string, query: Given = {}): Promise<string> => {
    const response = await send(requestOf(path, query, 'application/json'))
    const text = await response.text()
    if (!response.ok) throw new ApiError(response, parsed(text))
    return text
  }
  /** @param itemsOf the list in the page */
  const list = <Page extends { readonly next_cursor: string | null }, Item>(
    path: string,
    filter: Given,
    itemsOf: (page: Page) => readonly Item[],
  ): Pages<Item> =>
    pagesOf(async (cursor) => {
      const page: Page = JSON.parse(await read(path, { ...filter, limit: mostInPage, cursor }))
      return { items: itemsOf(page), next: page.next_cursor }
    })
  const network = async (): Promise<Network> => readNetwork(await read('/v1/network'))

  return {
    api: createClient<paths>({ baseUrl: base, headers: authorization, fetch: send }),
    readings: (filter = {}) =>
      list('/v1/readings', filter, ({ readings }: Schemas['ReadingsPage']) => readings),
    sensors: (filter = {}) =>
      list('/v1/sensors', filter, ({ sensors }: Schemas['SensorsPage']) => sensors),
    deliveries: (webhook, filter = {}) =>
      list(
        `/v1/webhooks/${encodeURIComponent(webhook)}/deliveries`,
        filter,
        ({ deliveries }: Schemas['DeliveriesPage']) => deliveries,
      ),
    changes: async function* (after, filter = {}) {
      let next = after
      for (;;) {
        const query = { ...filter, after: next, limit: mostChanges }
        const page: Schemas['ChangesPage'] = JSON.parse(await read('/v1/changes', query))
        yield page
        if (!page.more) return
        next = page.next_cursor
      }
    },
    stream: (filter = {}, { lastEventId, signal = new AbortController().signal } = {}) =>
      eventsOf({
        fetch,
        lastEventId,
        signal,
        most: retry.most ?? 6,
        request: (last_event_id, stop) =>
          requestOf('/v1/stream', { ...filter, last_event_id }, 'text/event-stream', {
            signal: stop,
          }),
      }),
    verify: async (sensorId, timestamp, options = {}) => {
      const time = typeof timestamp === 'string' ? timestamp : timestamp.toISOString()
      const path = `/v1/readings/${encodeURIComponent(sensorId)}/proof`
      const bundle = await read(path, { timestamp: time })
      return verifyBundle(bundle, { network: options.network ?? (await network()), ...options })
    },
    network,
  }
}

/** An answer that is not JSON is a proxy's. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
