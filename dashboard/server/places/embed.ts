/**
 * A place in a frame on a page of others: `/embed/area/{slug}`, `/embed/sensor/{id}`. One document,
 * one style and one script, without cookies; the script asks for the document again each minute.
 */

import { pathOf } from '../../place-links.ts'
import type { PlaceNow } from '../../place-now.ts'
import { type PlaceTexts, placeWords, shortened } from '../../place-words.ts'
import { html } from '../html.ts'

/** In frames of any page, and nothing else: no cookie of ours is read by it. */
export const embedPolicy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  'frame-ancestors *',
].join('; ')

export function embedPage(
  place: PlaceNow,
  texts: PlaceTexts,
  { publicUrl }: { readonly publicUrl: string },
): string {
  const words = placeWords(place, texts)
  return html`<!doctype html>
<html lang="${texts.format.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${shortened(texts.city.title(words.name), 110)}</title>
<link rel="stylesheet" href="/embed.css">
<script src="/embed.js" defer></script>
<noscript><meta http-equiv="refresh" content="60"></noscript>
</head>
<body>
<main>
<a id="place" class="embed" href="${publicUrl + pathOf(place)}" target="_blank" rel="noopener" data-category="${place.air?.category ?? 'none'}">
<h1 class="embed-name"><bdi>${words.name}</bdi></h1>
<span class="embed-index"><b>${words.number}</b> <span>${words.verdict}<small>${words.basis}</small></span></span>
<span class="embed-advice">${words.advice}</span>
${words.times !== undefined && html`<span class="embed-who">${words.times}<small>${words.mean}</small></span>`}
${words.last !== undefined && html`<span class="embed-last">${words.last}</span>`}
<span class="embed-foot"><span>${words.time}</span> <span>airproof</span></span>
</a>
<p id="stale" hidden>${texts.city.away}</p>
</main>
</body>
</html>
`.text
}
