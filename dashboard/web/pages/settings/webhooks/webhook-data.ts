/** Requests to `/data/v1/webhooks…`. */
import type { EventKind } from '../../../../../core/delivery/delivery.ts'
import { getJson, sendJson } from '../../../data.ts'
import type {
  Attempt,
  Delivery,
  Made,
  Outcome,
  Page,
  Rotated,
  Tried,
  WaitingPage,
  Wanted,
  Webhook,
} from './webhook-types.ts'

const root = '/data/v1/webhooks'
const at = (id: string, rest = ''): string => `${root}/${encodeURIComponent(id)}${rest}`
const deliveryAt = (id: string, delivery: string, rest = ''): string =>
  at(id, `/deliveries/${encodeURIComponent(delivery)}${rest}`)

/** Oldest first; an account that was premium still sees its own. */
export const listWebhooks = async (signal: AbortSignal): Promise<readonly Webhook[]> =>
  (await getJson<{ webhooks: readonly Webhook[] }>(root, { signal })).webhooks

export const showWebhook = async (id: string, signal: AbortSignal): Promise<Webhook> =>
  (await getJson<{ webhook: Webhook }>(at(id), { signal })).webhook

export const createWebhook = async (wanted: Wanted): Promise<Made> =>
  (await sendJson<{ webhook: Made }>('POST', root, wanted)).webhook

export const changeWebhook = async (id: string, change: Partial<Wanted>): Promise<Webhook> =>
  (await sendJson<{ webhook: Webhook }>('PATCH', at(id), change)).webhook

export const deleteWebhook = (id: string): Promise<unknown> => sendJson('DELETE', at(id))

export const switchWebhook = async (id: string, to: 'pause' | 'resume'): Promise<Webhook> =>
  (await sendJson<{ webhook: Webhook }>('POST', at(id, `/${to}`))).webhook

export const rotateSecret = async (id: string, overlapSeconds: number): Promise<Rotated> =>
  (
    await sendJson<{ webhook: Rotated }>('POST', at(id, '/rotate'), {
      overlap_seconds: overlapSeconds,
    })
  ).webhook

export const testWebhook = (
  id: string,
  event: EventKind,
): Promise<{ readonly delivery: string; readonly attempt: Attempt }> =>
  sendJson('POST', at(id, '/test'), { event })

export const listTried = (
  id: string,
  {
    outcome,
    cursor,
    limit = 25,
    delivery = '',
    startTime = '',
    endTime = '',
  }: {
    readonly outcome: Outcome | ''
    readonly cursor: string | null
    readonly limit?: number
    /** Its id. */
    readonly delivery?: string
    /** ISO 8601; '' for no bound. */
    readonly startTime?: string
    readonly endTime?: string
  },
  signal?: AbortSignal,
): Promise<Page<Tried>> => {
  const query = new URLSearchParams({ limit: String(limit) })
  if (outcome !== '') query.set('outcome', outcome)
  if (cursor !== null) query.set('cursor', cursor)
  for (const [name, value] of [
    ['delivery', delivery],
    ['start_time', startTime],
    ['end_time', endTime],
  ] as const)
    if (value !== '') query.set(name, value)
  return getJson(at(id, `/deliveries?${query}`), signal === undefined ? {} : { signal })
}

export const listWaiting = (
  id: string,
  state: 'pending' | 'dead',
  signal: AbortSignal,
): Promise<WaitingPage> => getJson(at(id, `/deliveries?state=${state}&limit=50`), { signal })

export const showDelivery = async (
  id: string,
  delivery: string,
  signal: AbortSignal,
): Promise<Delivery> =>
  (await getJson<{ delivery: Delivery }>(deliveryAt(id, delivery), { signal })).delivery

export const replayDelivery = (id: string, delivery: string): Promise<unknown> =>
  sendJson('POST', deliveryAt(id, delivery, '/replay'))

export const recoverSince = (id: string, since: string): Promise<unknown> =>
  sendJson('POST', at(id, '/recover'), { since })
