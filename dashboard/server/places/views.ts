/** The browser's views, each with what is known of its place before any script has run. */
import type { Context } from 'koa'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { tabsFor } from '../../frame.ts'
import type { PlaceNow } from '../../place-now.ts'
import { dateTimeIn, plainName } from '../../place-words.ts'
import { type Language, localeOf } from '../../texts/languages.ts'
import { html } from '../html.ts'
import { named, timeOf } from './place-routes.ts'
import type { AreaNow, Places, Seen } from './places.ts'
import { bodyOf, fillShell, placeShell, type ShellParts } from './shell.ts'
import { type Texts, wordsFor } from './words-for.ts'

type Options = {
  readonly places: Places
  /** The built `index.html` in a language, with a part of the scripts. */
  readonly shell: (language: Language, part?: string) => string
  readonly publicUrl: string
  /** The name of the whole network. */
  readonly network: string
  readonly proxies: number
  /** Sends the finished page. */
  readonly send: (ctx: Context, page: string) => void
}

export type ServeView = (ctx: Context, path: string) => Promise<void>

export function placeViews(options: Options): ServeView {
  const { places, shell, publicUrl, network, proxies, send } = options
  return async (ctx, path) => {
    const texts = wordsFor(ctx)
    const client = clientNetwork(ctx.req, proxies)
    const { parts, status } = await partsOf(ctx, { path, places, client, texts, network })
    const { language } = texts.format
    const server = { publicUrl, network, locale: localeOf[language] }
    send(ctx, fillShell(shell(language, partOf[path]), parts, server))
    ctx.status = ctx.status === 304 ? 304 : status
  }
}

/** The part of the scripts that each view needs (`web/vite.config.ts`). */
const partOf: Readonly<Record<string, string>> = {
  '/': 'city',
  '/areas/:slug': 'city',
  '/sensors/:id': 'sensor',
  '/proof': 'proof',
  '/proof/:id/:timestamp': 'proof',
}

type Wanted = {
  readonly path: string
  readonly places: Places
  readonly client: string
  readonly texts: Texts
  readonly network: string
}
type Parts = { readonly parts: ShellParts; readonly status: number }

async function partsOf(ctx: Context, wanted: Wanted): Promise<Parts> {
  const { path, places, client, texts, network } = wanted
  const usual = { parts: plainShell(ctx, texts, network), status: 200 }
  switch (path) {
    case '/': {
      const place = await places.look({ kind: 'city' }, client)
      if (typeof place === 'string') return usual
      const areas = await places.areas(client)
      return {
        parts: { ...placeShell(place, texts, areaTable(areas, texts)), ahead: aheadOfCity },
        status: 200,
      }
    }
    case '/areas/:slug':
      return placeParts(
        await places.look({ kind: 'area', id: named(ctx, 'slug') }, client),
        usual,
        texts,
      )
    case '/sensors/:id': {
      const id = named(ctx, 'id')
      const { parts, status } = placeParts(
        await places.look({ kind: 'sensor', id }, client),
        usual,
        texts,
      )
      return { parts: { ...parts, ahead: aheadOfSensor(id) }, status }
    }
    case '/proof/:id/:timestamp': {
      const [id, timeMs] = [named(ctx, 'id'), timeOf(ctx)]
      const place = await places.look({ kind: 'sensor', id }, client)
      const reading = typeof place === 'string' ? place : await places.reading(id, timeMs, client)
      if (typeof reading === 'string' || typeof place === 'string')
        return { ...usual, status: place === 'unknown' || reading === 'unknown' ? 404 : 200 }
      const amount = (value: number | null): string =>
        value === null ? '–' : `${texts.format.number(value, 2)} µg/m³`
      const time = dateTimeIn(place.timezone, timeMs, texts)
      return {
        status: 200,
        parts: {
          ...usual.parts,
          title: texts.city.proofTitle(plainName(place.name)),
          description: texts.city.proofAbout(amount(reading.pm25), amount(reading.pm10), time),
          path: ctx.path + ctx.search,
          picture: `${ctx.path}/card.png`,
        },
      }
    }
    default:
      return usual
  }
}

/** As the pages' scripts ask for it: what is asked for in other words is loaded twice. */
const aheadOfCity = [
  '/data/v1/sensors?limit=1000',
  '/data/v1/sensors?include=latest&limit=1000&fields=id,aqi_nowcast&index=us',
  '/data/v1/areas',
]
const aheadOfSensor = (id: string): readonly string[] => [
  `/data/v1/sensors/${encodeURIComponent(id)}/status`,
  `/data/v1/readings?${String(new URLSearchParams({ sensor_id: id, limit: '25' }))}`,
]

function placeParts(place: Seen<PlaceNow>, usual: Parts, texts: Texts): Parts {
  if (typeof place === 'string') return { ...usual, status: place === 'unknown' ? 404 : 200 }
  return { parts: placeShell(place, texts, html``), status: 200 }
}

/** Without a place: the page's tab names it. */
function plainShell(ctx: Context, texts: Texts, network: string): ShellParts {
  const tab = tabsFor('operator', ctx.path, texts.common).find(({ isHere }) => isHere)
  const title = tab === undefined || tab.href === '/' ? texts.city.title(network) : tab.text
  return {
    title,
    description: texts.city.about(network),
    path: ctx.path,
    picture: '/card.png',
    body: bodyOf(html`<noscript><h1>${title}</h1></noscript>`, ctx.path, texts),
    first: undefined,
  }
}

/** The city in words, for those who have no script. */
const areaTable = (areas: readonly AreaNow[] | 'away', texts: Texts) => html`<noscript>
${
  areas !== 'away' &&
  areas.length > 0 &&
  html`<div class="table"><table><caption>${texts.city.areas}</caption>
<thead><tr><th scope="col">${texts.city.areaColumn}</th><th scope="col">${texts.city.areaIndex}</th><th scope="col">${texts.city.sensorsColumn}</th></tr></thead>
<tbody>${areas.map(
    ({ name, slug, aqi, category, online, total }) =>
      html`<tr><td><a href="/areas/${encodeURIComponent(slug)}"><bdi>${name}</bdi></a></td><td>${category === null ? '–' : `${aqi} ${texts.categories[category]}`}</td><td>${online} / ${total}</td></tr>`,
  )}</tbody></table></div>`
}
</noscript>`
