/**
 * What is handed on of a place: plain text and JSON (`/now`), frames (`/embed`), badges and the
 * pictures of links. Open to anyone, from any page; the API is asked once in 20 s for a place.
 */
import type { Context } from 'koa'
import { minuteMs, secondMs } from '../../../core/time.ts'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import type { PlaceNow } from '../../place-now.ts'
import { rateBy } from '../rate-by.ts'
import { away, Refusal } from '../refusal.ts'
import type { DashboardRoute } from '../route.ts'
import type { PlaceKey } from './ask-places.ts'
import { badgeSvg } from './badge.ts'
import { placeCard, proofCard } from './card.ts'
import type { Draw } from './draw.ts'
import { embedPage, embedPolicy } from './embed.ts'
import { placeText } from './place-text.ts'
import type { Places, Seen } from './places.ts'
import { wordsFor } from './words-for.ts'

type Options = {
  readonly places: Places
  readonly draw: Draw
  readonly publicUrl: string
  readonly proxies: number
  readonly clockMs: () => number
}

/** Of one network. */
const perMinute = 300
/** Each that is not kept takes some 100 ms to draw. */
const picturesPerMinute = 60

type Answer = (ctx: Context, place: PlaceNow) => unknown

export function placeRoutes(options: Options): readonly DashboardRoute[] {
  const { places, draw, publicUrl, proxies, clockMs } = options
  const limited = (count: number) =>
    rateBy({
      limit: { perSecond: (count * secondMs) / minuteMs, burst: count / 5 },
      clockMs,
      siteFactor: 10,
    })
  const byNetwork = limited(perMinute)
  const picturesByNetwork = limited(picturesPerMinute)

  const route = (
    path: string,
    keyOf: KeyOf,
    answer: Answer,
    limit = byNetwork,
  ): DashboardRoute => ({
    method: 'GET',
    path,
    needs: 'none',
    handle: async (ctx) => {
      const network = clientNetwork(ctx.req, proxies)
      limit.take(network)
      const place = seen(await places.look(keyOf(ctx), network))
      // browsers of other origins show these
      ctx.set('cross-origin-resource-policy', 'cross-origin')
      ctx.set('cache-control', 'public, max-age=30')
      ctx.vary('accept-language')
      ctx.vary('cookie')
      return await answer(ctx, place)
    },
  })
  const now: Answer = (ctx, place) => {
    ctx.vary('accept')
    ctx.set('access-control-allow-origin', '*')
    if (ctx.accepts('text/plain', 'application/json') === 'application/json') return place
    ctx.type = 'text/plain; charset=utf-8'
    return placeText(place, wordsFor(ctx), publicUrl)
  }
  const embed: Answer = (ctx, place) => {
    ctx.remove('x-frame-options')
    ctx.set('content-security-policy', embedPolicy)
    ctx.type = 'text/html; charset=utf-8'
    return embedPage(place, wordsFor(ctx), { publicUrl })
  }
  const badge: Answer = (ctx, place) => {
    ctx.type = 'image/svg+xml'
    return badgeSvg(place, wordsFor(ctx))
  }
  const card: Answer = async (ctx, place) => {
    const texts = wordsFor(ctx)
    const png = await draw.png(`${texts.format.language} ${place.kind} ${place.id}`, () =>
      placeCard(place, texts),
    )
    return sendPng(ctx, png)
  }
  return [
    route('/now', () => ({ kind: 'city' }), now),
    route('/now/:slug', areaOf, now),
    route('/now/sensors/:id', sensorOf, now),
    route('/embed/area/:slug', areaOf, embed),
    route('/embed/sensor/:id', sensorOf, embed),
    route('/badge/area/:slug.svg', areaOf, badge),
    route('/badge/sensor/:id.svg', sensorOf, badge),
    route('/card.png', () => ({ kind: 'city' }), card, picturesByNetwork),
    route('/areas/:slug/card.png', areaOf, card, picturesByNetwork),
    route('/sensors/:id/card.png', sensorOf, card, picturesByNetwork),
    route(
      '/proof/:id/:timestamp/card.png',
      sensorOf,
      async (ctx, place) => {
        const timeMs = timeOf(ctx)
        const network = clientNetwork(ctx.req, proxies)
        const reading = seen(await places.reading(place.id, timeMs, network))
        const texts = wordsFor(ctx)
        const name = `${texts.format.language} proof ${place.id} ${timeMs}`
        return sendPng(ctx, await draw.png(name, () => proofCard(reading, place, texts)))
      },
      picturesByNetwork,
    ),
  ]
}

type KeyOf = (ctx: Context) => PlaceKey

const areaOf: KeyOf = (ctx) => ({ kind: 'area', id: named(ctx, 'slug') })
const sensorOf: KeyOf = (ctx) => ({ kind: 'sensor', id: named(ctx, 'id') })

/** No name of a place is longer. */
const longestName = 256

/** @throws Refusal 404 */
export function named(ctx: Context, name: string): string {
  const text: string = ctx['params'][name] ?? ''
  if (text.length <= longestName) return text
  throw unknown()
}

/** @throws Refusal 404 */
export function timeOf(ctx: Context): number {
  const timeMs = Date.parse(named(ctx, 'timestamp'))
  if (Number.isFinite(timeMs)) return timeMs
  throw unknown()
}

const unknown = (): Refusal =>
  new Refusal(404, 'not_found', 'this network has no such place: check how it is spelt')

/** @throws Refusal 404, 503 */
function seen<T>(value: Seen<T>): T {
  if (value === 'unknown') throw unknown()
  if (value === 'away') throw away('api_away', 'the API does not answer right now')
  return value
}

function sendPng(ctx: Context, png: Buffer): Buffer {
  ctx.type = 'image/png'
  ctx.set('cache-control', 'public, max-age=300')
  return png
}
