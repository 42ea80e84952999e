import type { Context } from 'koa'
import { footerLinks, languageLink, type SiteState, tabsFor } from '../frame.ts'
import { languageNames, languages } from '../texts/languages.ts'
import { Html, html } from './html.ts'
import { type Words, wordsOf } from './language.ts'
import type { Session } from './route.ts'

type Page = {
  readonly title: string
  readonly body: Html
  /** 200 unless given. */
  readonly status?: number
  readonly session?: Session | undefined
  /** A form is narrow, and on a card; an article is text to read. */
  readonly kind?: 'form' | 'article'
}

/** A page that works without JavaScript, with the same bar and footer as all others. */
export function sendPage(
  ctx: Context,
  { title, body, status = 200, session, kind = 'form' }: Page,
): void {
  const words = wordsOf(ctx)
  const { common } = words
  const { language } = words.format
  const { path } = ctx
  ctx.status = status
  ctx.type = 'text/html; charset=utf-8'
  ctx.set({ 'cache-control': 'no-store', 'content-language': language })
  ctx.vary('accept-language, cookie')
  ctx.body = html`<!doctype html>
<html lang="${language}" class="inter">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · airproof</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/base.css">
</head>
<body>
<a class="skip" href="#main">${common.skip}</a>
<header class="top">
<a class="brand" href="/"><img src="/icon.svg" alt="" width="26" height="26">airproof</a>
<nav aria-label="${common.tabs.label}">${tabsFor(session?.account.role ?? 'visitor', path, common).map(linkHtml)}</nav>
<div class="who">${who(words, session)}</div>
</header>
<main id="main" class="${kind === 'form' ? 'narrow' : 'article'}">
<div class="${kind === 'form' ? 'card stack' : ''}">
${body}
</div>
</main>
<footer class="foot">
<nav aria-label="${common.footer.label}">${footerLinks((ctx.state as SiteState).site, path, common).map(linkHtml)}</nav>
<nav aria-label="${common.footer.language}">${languages.map(
    (name) =>
      html`<a href="${languageLink(name, ctx.method === 'GET' ? ctx.url : path)}" hreflang="${name}" lang="${name}"${name === language && html` aria-current="true"`}>${languageNames[name]}</a>`,
  )}</nav>
</footer>
</body>
</html>
`.text
}

const linkHtml = ({
  href,
  text,
  isHere,
}: {
  readonly href: string
  readonly text: string
  readonly isHere: boolean
}): Html => html`<a href="${href}"${isHere && html` aria-current="page"`}>${text}</a>`

const who = ({ common }: Words, session: Session | undefined): Html =>
  session === undefined
    ? html`<a class="button quiet" href="/login">${common.signIn}</a>
<a class="button primary" href="/signup">${common.signUp}</a>`
    : html`<span class="muted">${session.account.name}</span>
<form method="post" action="/logout"><input type="hidden" name="csrf" value="${session.csrf}"><button>${common.signOut}</button></form>`
