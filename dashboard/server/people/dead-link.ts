import type { Context } from 'koa'
import { isToken } from '../cookies.ts'
import { type Html, html } from '../html.ts'
import { wordsOf } from '../language.ts'
import type { Session } from '../route.ts'
import { sendNote } from './form-page.ts'

/** Answers for a link that does nothing. @param next what to do instead */
export function sendDeadLink(
  ctx: Context,
  session: Session | undefined,
  { token, next }: { readonly token: string; readonly next: Html },
): void {
  const { deadLink } = wordsOf(ctx).people
  // cut off, or with characters that a mail program put in
  if (!isToken(token))
    return sendNote(ctx, session, {
      title: deadLink.cutTitle,
      status: 400,
      body: html`<p>${deadLink.cut}</p>\n${next}`,
    })
  sendNote(ctx, session, {
    title: deadLink.oldTitle,
    status: 410,
    body: html`<p>${deadLink.old}</p>\n${next}`,
  })
}
