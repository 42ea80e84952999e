import type { Context } from 'koa'
import { html } from './html.ts'
import { sendPage } from './page.ts'
import type { Refusal } from './refusal.ts'

/** A page for people; for programs the same envelope as the API's. */
export function writeRefusal(ctx: Context, refusal: Refusal, requestId: string): void {
  const { status, code, message, details, headers } = refusal
  ctx.set(headers)
  ctx.set('cache-control', 'no-store')
  if (!wantsPage(ctx)) {
    ctx.status = status
    ctx.type = 'application/json'
    ctx.body = JSON.stringify({
      status: 'error',
      error: { code, message, details },
      request_id: requestId,
    })
    return
  }
  if (code === 'not_signed_in') {
    // only a page is worth returning to after sign-in
    const next = ctx.method === 'GET' ? `?next=${encodeURIComponent(ctx.url)}` : ''
    ctx.status = 303
    ctx.set('location', `/login${next}`)
    ctx.body = ''
    return
  }
  sendPage(ctx, {
    status,
    title: titles[status] ?? 'That did not work',
    body: html`<h1>${titles[status] ?? 'That did not work'}</h1>
<p>${message[0]?.toUpperCase() ?? ''}${message.slice(1)}.</p>
<p class="hint">Request ${requestId}</p>
<p><a href="/">To the city</a></p>`,
  })
}

const titles: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Nothing here',
  429: 'Too many tries',
  500: 'Our mistake',
  503: 'Not right now',
}

/** Browsers name `text/html` when a person goes somewhere; scripts of ours ask for JSON. */
const wantsPage = (ctx: Context): boolean =>
  !ctx.path.startsWith('/data/') &&
  ctx.path !== '/me' &&
  ctx.accepts('application/json', 'text/html') === 'text/html'
