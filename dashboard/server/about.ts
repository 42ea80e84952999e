/** What the footer of every page leads to: written by the server, in both languages. */
import type { Context } from 'koa'
import type { Site } from '../frame.ts'
import { fill } from '../texts/fill.ts'
import { type Html, html } from './html.ts'
import { type Words, wordsOf } from './language.ts'
import { sendPage } from './page.ts'
import type { DashboardRoute } from './route.ts'

type Page = {
  readonly path: string
  readonly title: (about: Words['about']) => string
  readonly body: (words: Words, site: Site) => Html
}

const link =
  (href: string) =>
  (label: string): Html =>
    html`<a href="${href}">${label}</a>`

const paragraphs = (texts: readonly string[]): Html =>
  html`${texts.map((text) => html`<p>${text}</p>\n`)}`

/** Empty where the operator has named no contact. */
const reached = (text: string, { contact }: Site): Html | undefined =>
  contact && html`<p>${fill(text, { contact: () => link(contact.href)(contact.text) })}</p>`

const pages: readonly Page[] = [
  {
    path: '/about',
    title: ({ about }) => about.title,
    body: ({ about: { about } }, site) => html`${paragraphs(Object.values(about.paragraphs))}
${reached(about.operator, site)}
<p>${fill(about.proof, { proof: link('/proof'), map: link('/') })}</p>`,
  },
  {
    path: '/about/method',
    title: ({ method }) => method.title,
    body: ({ about: { method } }) =>
      html`${Object.values(method.sections).map(
        ({ title, body }) => html`<section><h2>${title}</h2>\n<p>${body}</p></section>\n`,
      )}`,
  },
  {
    path: '/about/data',
    title: ({ data }) => data.title,
    body: ({ about: { data } }, { licence, attribution }) => html`<p>${
      licence === undefined
        ? data.unlicensed
        : fill(data.licensed, {
            licence: () => html`<strong>${licence}</strong>`,
            credit: () => html`<strong>${attribution ?? 'airproof'}</strong>`,
          })
    }</p>
<p>${data.ways}</p>
<p>${fill(data.sources, { font: link('/assets/inter-license.txt') })}</p>`,
  },
  {
    path: '/about/privacy',
    title: ({ privacy }) => privacy.title,
    body: ({ about: { privacy } }, site) => html`${paragraphs(Object.values(privacy.paragraphs))}
<p>${
      site.tilesHost === undefined
        ? privacy.ownMap
        : fill(privacy.tiles, { host: () => html`<strong>${site.tilesHost}</strong>` })
    }</p>
${reached(privacy.ask, site)}
<p>${fill(privacy.account, { account: link('/account') })}</p>`,
  },
]

export const aboutRoutes = (site: Site): readonly DashboardRoute[] =>
  pages.map(({ path, title, body }) => ({
    method: 'GET',
    path,
    needs: 'none',
    handle: (ctx: Context, session) => {
      const words = wordsOf(ctx)
      const named = title(words.about)
      sendPage(ctx, {
        title: named,
        session,
        kind: 'article',
        body: html`<h1>${named}</h1>\n${body(words, site)}`,
      })
    },
  }))
