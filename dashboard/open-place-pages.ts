/** What the server itself writes of a place: pages before their scripts run, embeds, pictures, text. */
import type { NatsConnection } from '@nats-io/transport-node'
import { clientNetwork } from '../runtime/http/client-network.ts'
import type { Logger } from '../runtime/log.ts'
import type { DashboardConfig } from './config.ts'
import type { LookSilence } from './server/account-api/operator-sensors.ts'
import { askApi } from './server/places/ask-api.ts'
import { openDraw } from './server/places/draw.ts'
import { placeRoutes } from './server/places/place-routes.ts'
import { openPlaces } from './server/places/places.ts'
import { placeViews, type ServeView } from './server/places/views.ts'
import type { DashboardRoute } from './server/route.ts'
import { sendShell, type WebFiles } from './server/web-files.ts'

export type PlacePages = {
  readonly routes: readonly DashboardRoute[]
  readonly serveView: ServeView
  readonly silence: LookSilence
}

type Options = {
  readonly nc: NatsConnection
  readonly settings: DashboardConfig
  /** The dashboard's own, for the API. */
  readonly key: () => string
  readonly files: Pick<WebFiles, 'shell'>
  readonly nowMs: () => number
  readonly clockMs: () => number
  readonly log: Logger
}

export function openPlacePages(
  { nc, settings, key, files, nowMs, clockMs, log }: Options,
  opened: AsyncDisposableStack,
): PlacePages {
  const { publicUrl, proxies, apiUrl, network } = settings
  const places = openPlaces({
    nc,
    ask: askApi({ apiUrl, key }),
    city: network.name,
    timezone: network.timezone,
    nowMs,
    onFailure: (error) => log.debug({ err: error }, 'the API did not say how the air is'),
  })
  const draw = opened.use(openDraw({ nowMs }))
  return {
    routes: placeRoutes({ places, draw, publicUrl, proxies, clockMs }),
    serveView: placeViews({
      places,
      shell: files.shell,
      publicUrl,
      network: network.name,
      proxies,
      send: sendShell,
    }),
    silence: (ctx, id) => places.silence(id, clientNetwork(ctx.req, proxies)),
  }
}
