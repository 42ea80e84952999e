import type { Context } from 'koa'
import { type Html, html } from '../html.ts'
import type { Session } from '../route.ts'
import { sendNote } from './form-page.ts'

/** A link that does nothing any more, whyever. @param next what to do instead */
export const sendGone = (ctx: Context, session: Session | undefined, next: Html): void =>
  sendNote(ctx, session, {
    title: 'This link no longer works',
    status: 410,
    body: html`<p>It has been used already, or it is older than a day.</p>\n${next}`,
  })
