import type { Context } from 'koa'
import { html } from './html.ts'
import { wordsOf } from './language.ts'
import { sendPage } from './page.ts'
import type { Refusal } from './refusal.ts'
import type { Session } from './route.ts'

type Request = {
  readonly id: string
  /** Whose page it is: the bar stays theirs. */
  readonly session?: Session | undefined
}

/** A page for people; for programs the same envelope as the API's. */
export function writeRefusal(ctx: Context, refusal: Refusal, { id, session }: Request): void {
  const { status, code, message, details, headers } = refusal
  ctx.set(headers)
  ctx.set('cache-control', 'no-store')
  if (!wantsPage(ctx)) {
    ctx.status = status
    ctx.type = 'application/json'
    ctx.body = JSON.stringify({
      status: 'error',
      error: { code, message, details },
      request_id: id,
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
  const { common, people } = wordsOf(ctx)
  const title = textOf(people.errors.titles, `s${status}`) ?? people.errors.titles.other
  const known = textOf(people.errors.bodies, code)
  sendPage(ctx, {
    status,
    session,
    title,
    body: html`<h1>${title}</h1>
<p>${known ?? asSentence(message)}</p>
<p class="hint">${people.errors.request(id)}</p>
<p><a href="/">${common.backToCity}</a></p>`,
  })
}

const textOf = (texts: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined

/** Of errors that only programs cause: in English, as the API has them. */
const asSentence = (message: string): string =>
  `${message[0]?.toUpperCase() ?? ''}${message.slice(1)}.`

/** Browsers name `text/html` when a person goes somewhere; scripts of ours ask for JSON. */
const wantsPage = (ctx: Context): boolean =>
  !ctx.path.startsWith('/data/') &&
  ctx.path !== '/me' &&
  ctx.accepts('application/json', 'text/html') === 'text/html'
