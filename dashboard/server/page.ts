import type { Context } from 'koa'
import { Html, html } from './html.ts'
import type { Session } from './route.ts'

type Page = {
  readonly title: string
  readonly body: Html
  /** 200 unless given. */
  readonly status?: number
  readonly session?: Session | undefined
}

/** A page that works without JavaScript, with the same look as all others. */
export function sendPage(ctx: Context, { title, body, status = 200, session }: Page): void {
  ctx.status = status
  ctx.type = 'text/html; charset=utf-8'
  ctx.set('cache-control', 'no-store')
  ctx.body = html`<!doctype html>
<html lang="en">
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
<a class="skip" href="#main">Skip to the page</a>
<header class="top">
<a class="brand" href="/"><img src="/icon.svg" alt="" width="26" height="26">airproof</a>
<nav aria-label="Pages"><a href="/">City</a><a href="/proof">Proof</a>${session && html`<a href="/settings/account">Account</a>`}</nav>
<div class="who">${session === undefined ? signIn : signedIn(session)}</div>
</header>
<main id="main" class="narrow">
<div class="card stack">
${body}
</div>
</main>
</body>
</html>
`.text
}

const signIn = html`<a class="button quiet" href="/login">Sign in</a> <a class="button primary" href="/signup">Sign up</a>`

const signedIn = ({ account, csrf }: Session): Html => html`<span>${account.name}</span>
<form method="post" action="/logout"><input type="hidden" name="csrf" value="${csrf}"><button class="quiet">Sign out</button></form>`
