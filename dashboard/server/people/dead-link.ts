import type { Context } from 'koa'
import { isToken } from '../cookies.ts'
import { type Html, html } from '../html.ts'
import type { Session } from '../route.ts'
import { sendNote } from './form-page.ts'

/** Answers for a link that does nothing. @param next what to do instead */
export function sendDeadLink(
  ctx: Context,
  session: Session | undefined,
  { token, next }: { readonly token: string; readonly next: Html },
): void {
  // cut off, or with characters that a mail program put in
  if (!isToken(token))
    return sendNote(ctx, session, {
      title: 'This link is incomplete',
      status: 400,
      body: html`<p>A part of it is missing or was changed on the way. Copy the whole link from the email, in one line.</p>\n${next}`,
    })
  sendNote(ctx, session, {
    title: 'This link no longer works',
    status: 410,
    body: html`<p>It has already been used, or it is older than a day.</p>\n${next}`,
  })
}
