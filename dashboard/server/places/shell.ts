/**
 * The page that all views begin with, as it is sent: with the title and the tags that messengers
 * read, and with the numbers of the place, in words and as data. So the answer is on the screen
 * before any script has run, and stays where none runs.
 */

import { tabsFor } from '../../frame.ts'
import { pathOf, pictureOf } from '../../place-links.ts'
import type { PlaceNow } from '../../place-now.ts'
import { type PlaceTexts, placeWords, plainName, shortened } from '../../place-words.ts'
import type { ServerTexts } from '../../texts/en/server.ts'
import { Html, html } from '../html.ts'

export type ShellParts = {
  readonly title: string
  readonly description: string
  /** Of the page, below the server's address. */
  readonly path: string
  /** Below the server's address. */
  readonly picture: string | undefined
  /** What is shown until the scripts run, or without them. */
  readonly body: Html
  readonly first: PlaceNow | undefined
  /** Addresses of data that the scripts will ask for: loaded beside them, not after. */
  readonly ahead?: readonly string[]
  readonly isFound?: boolean
}

type Server = { readonly publicUrl: string; readonly network: string; readonly locale: string }

const app = '<div id="app"></div>'
const longestTitle = 110
const longestDescription = 300

/** @param page the built `index.html` @throws Error if it is not as this expects */
export function fillShell(page: string, parts: ShellParts, server: Server): string {
  const { title, description, path, picture, body, first, ahead = [] } = parts
  const heads = page.match(/<title>[^<]*<\/title>/)
  if (heads === null || !page.includes(app)) throw new Error('index.html has no title, or no #app')
  const image = picture === undefined ? undefined : server.publicUrl + picture
  const named = shortened(title, longestTitle)
  const about = shortened(description, longestDescription)
  const head = html`<title>${named} · airproof</title>
    <meta name="description" content="${about}">
    <link rel="canonical" href="${server.publicUrl + path}">
    <meta property="og:type" content="website">
    <meta property="og:site_name" content="airproof ${server.network}">
    <meta property="og:locale" content="${server.locale.replace('-', '_')}">
    <meta property="og:title" content="${named}">
    <meta property="og:description" content="${about}">
    <meta property="og:url" content="${server.publicUrl + path}">
    <meta name="twitter:card" content="${image === undefined ? 'summary' : 'summary_large_image'}">
    <meta name="twitter:title" content="${named}">
    <meta name="twitter:description" content="${about}">
    ${
      image !== undefined &&
      html`<meta property="og:image" content="${image}">
    <meta property="og:image:type" content="image/png">
    <meta property="og:image:width" content="1200">
    <meta property="og:image:height" content="630">
    <meta property="og:image:alt" content="${about}">
    <meta name="twitter:image" content="${image}">`
    }`.text
  // replaced by functions: `$&` in a name is text
  return (
    page
      .replace(/\s*<meta name="description"[^>]*>/, '')
      // of this page, with its numbers, in its language
      .replace(/<noscript>[\s\S]*<\/noscript>/, '')
      .replace(/<title>[^<]*<\/title>/, () => head)
      .replace('</head>', () => `${ahead.map(aheadHtml).join('')}</head>`)
      .replace(app, () => `<div id="app">${body.text}</div>${dataOf(first)}`)
  )
}

const aheadHtml = (path: string): string =>
  html`<link rel="preload" as="fetch" crossorigin href="${path}">`.text

/** Not a script: browsers run only types that they know. `<` is escaped, so nothing can end it. */
const dataOf = (first: PlaceNow | undefined): string =>
  first === undefined
    ? ''
    : `<script type="application/json" id="first">${JSON.stringify(first).replaceAll('<', '\\u003c')}</script>`

/** What all pages have around their content, as `layout.tsx` makes it before it knows the reader. */
export const bodyOf = (content: Html, path: string, { common, city }: ServerTexts): Html =>
  html`<header class="top"><a class="brand" href="/"><img src="/icon.svg" alt="" width="26" height="26">airproof</a><nav aria-label="${common.tabs.label}">${tabsFor(
    'visitor',
    path,
    common,
  ).map(
    ({ href, text, isHere }) =>
      html`<a href="${href}"${isHere && html` aria-current="page"`}>${text}</a>`,
  )}</nav><div class="who"></div></header><main id="page"${path === '/' && html` class="wide"`}>${content}<noscript><p>${city.noScript}</p><p><a href="/">${city.toCity}</a> · <a href="/login">${common.signIn}</a> · <a href="/signup">${common.signUp}</a> · <a href="/airproof-verify.js">airproof-verify.js</a></p></noscript></main>`

/** The same as the headline of the pages, as `parts/headline.tsx` makes it. */
export function headlineHtml(place: PlaceNow, texts: PlaceTexts): Html {
  const words = placeWords(place, texts)
  return html`<section class="headline" data-kind="${place.kind}" data-category="${place.air?.category ?? 'none'}" aria-labelledby="headline">
<div class="headline-place"><h1 class="headline-name" id="headline"><bdi>${words.name}</bdi></h1>
<p class="headline-hint">${words.time} · ${words.state}</p>${where(place)}<div class="headline-tools">${mapLink(place, texts)}</div></div>
<p class="headline-index"><span class="headline-number">${words.number}</span> <span class="headline-verdict"><strong>${words.verdict}</strong>${words.basis !== '' && html` <span class="headline-hint">${words.basis}</span>`}</span></p>
<p class="headline-advice">${words.advice} ${words.last}</p>
<p class="headline-facts headline-hint">${words.times !== undefined && html`<strong>${words.times}</strong>`}${words.facts.map((fact, at) => html`<span>${(at > 0 || words.times !== undefined) && ' · '}${fact}</span>`)}</p>
</section>`
}

/** Beside the name of a sensor: its area, and its id small. */
const where = ({ kind, id, area }: PlaceNow): Html | undefined =>
  kind === 'sensor'
    ? html`<p class="headline-hint headline-where">${area !== null && html`<a href="/areas/${encodeURIComponent(area.slug)}"><bdi>${area.name}</bdi></a>`} <span class="mono">${id}</span></p>`
    : undefined

const mapLink = ({ kind, id }: PlaceNow, { city }: PlaceTexts): Html | undefined =>
  kind === 'city'
    ? undefined
    : html`<a href="/?${kind}=${encodeURIComponent(id)}">${city.onMap}</a>`

/** Of a page about a place. */
export function placeShell(
  place: PlaceNow,
  texts: ServerTexts & PlaceTexts,
  rest: Html,
): ShellParts {
  const words = placeWords(place, texts)
  const name = plainName(place.name)
  const isSensor = place.kind === 'sensor'
  const area = place.area === null ? '' : plainName(place.area.name)
  // an address may name its area
  const where = isSensor && !name.includes(area) ? `${name}, ${area}` : name
  return {
    title: texts.city.title(where),
    description:
      place.air === null
        ? words.advice
        : `${words.number} ${words.verdict} (${words.basis}). ${words.advice}`,
    path: pathOf(place),
    picture: pictureOf(place),
    body: bodyOf(html`${headlineHtml(place, texts)}${rest}`, pathOf(place), texts),
    first: place,
  }
}
