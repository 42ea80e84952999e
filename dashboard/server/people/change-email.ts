/**
 * Another address: it becomes the account's when its mailbox has received the link and the
 * account's own session opens it; the old address gets a notice. Without the session, the owner of
 * a mailbox could be led to take over a stranger's account, with that stranger's keys and webhooks
 * in it.
 */
import type { Context } from 'koa'
import { moveAddress } from '../../../operate/account-book.ts'
import { readPassword } from '../../../operate/password-store.ts'
import { hashOfToken } from '../cookies.ts'
import { html } from '../html.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { askPassword } from './ask-password.ts'
import { sendDeadLink } from './dead-link.ts'
import { judgeEmail } from './fields.ts'
import { type Problems, sendForm, sendNote } from './form-page.ts'
import type { Found } from './link-tokens.ts'
import { holderOf, type People, setKnownBrowser } from './people.ts'

export const emailRoutes = (people: People): readonly DashboardRoute[] => [
  {
    method: 'GET',
    path: '/account/email',
    needs: 'session',
    handle: (ctx, session) => show(ctx, session),
  },
  {
    method: 'POST',
    path: '/account/email',
    needs: 'session',
    handle: (ctx, session) => take(people, ctx, session),
  },
  {
    method: 'GET',
    path: '/confirm-email',
    needs: 'session',
    handle: async (ctx, session) => {
      const token = String(ctx.query['token'] ?? '')
      const link = await lookUp(people, session, token)
      if (link === undefined) return sendDeadLink(ctx, session, { token, next: askAgain })
      sendForm(ctx, session, {
        title: 'Confirm your new email address',
        intro: html`<p>The address of your account changes from <strong>${link.use.former}</strong> to <strong>${link.use.email}</strong>.</p>`,
        action: '/confirm-email',
        hidden: { token },
        button: 'Confirm',
      })
    },
  },
  {
    method: 'POST',
    path: '/confirm-email',
    needs: 'session',
    handle: (ctx, session) => confirm(people, ctx, session),
  },
]

const askAgain = html`<p>If you asked for it with another account, sign in with that account first. Or <a href="/account/email">ask for another link</a>.</p>`

const show = (ctx: Context, session: Session, problems: Problems = {}): void =>
  sendForm(ctx, session, {
    title: 'Change email address',
    intro: html`<p>It stays <strong>${session.account.email}</strong> until you open the link that we send to the new address.</p>`,
    action: '/account/email',
    fields: [
      {
        name: 'email',
        label: 'New email address',
        type: 'email',
        autocomplete: 'email',
        value: sentText(ctx, 'email'),
      },
      { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
    ],
    button: 'Send link',
    problems,
  })

async function take(people: People, ctx: Context, session: Session): Promise<void> {
  const { links, mails, limits, audit, publicUrl } = people
  const { id, email: former } = session.account
  const judged = judgeEmail(sentText(ctx, 'email'))
  if ('problem' in judged) return show(ctx, session, { email: judged.problem })
  const email = judged.value
  if (email === former) return show(ctx, session, { email: 'This is already your address' })
  const checked = await askPassword(people, session, sentText(ctx, 'password'))
  if ('problem' in checked) return show(ctx, session, { password: checked.problem })
  limits.asking.take(id)
  limits.moving.take(email)
  // only the new address learns whether it is another account's
  const { account: other } = await holderOf(people, email)
  const { revision } = checked
  const token = await links.make({ kind: 'email', account: id, email, former, revision })
  const to = { email }
  await mails.send(
    `confirm_new_email.${hashOfToken(token)}`,
    other === undefined
      ? {
          kind: 'confirm_new_email',
          to,
          data: { former, link: `${publicUrl}/confirm-email?token=${token}` },
        }
      : {
          kind: 'already_registered',
          to,
          data: { link: `${publicUrl}/login`, forgot: `${publicUrl}/forgot` },
        },
  )
  await audit(id, 'email_change_asked', ctx, {})
  sendNote(ctx, session, {
    title: 'Check your email',
    body: html`<p>We sent an email to <strong>${email}</strong>. Open its link within 24 hours, in this browser, to change the address.</p>
<p><a href="/account">Back to your account</a></p>`,
  })
}

/**
 * A new password locks others out: their pending requests are void.
 * @returns undefined also if another account requested it, or the password has changed since
 */
async function lookUp(
  people: People,
  { account }: Session,
  token: string,
): Promise<Found<'email'> | undefined> {
  const link = await people.links.look(token, 'email')
  if (link === undefined || link.use.account !== account.id) return undefined
  const stored = await readPassword(people.passwords, link.use.account)
  return (stored?.revision ?? 0) === link.use.revision ? link : undefined
}

/** The token is used up last: killed in between, the same link does the rest. */
async function confirm(people: People, ctx: Context, session: Session): Promise<void> {
  const { book, links, mails, audit } = people
  const token = sentText(ctx, 'token')
  const link = await lookUp(people, session, token)
  if (link === undefined) return sendDeadLink(ctx, session, { token, next: askAgain })
  const { account, email, former } = link.use
  if (!(await moveAddress(book, account, { from: former, to: email })))
    return sendDeadLink(ctx, session, { token, next: askAgain })
  if (await links.consume(token, link.revision)) {
    await audit(account, 'email_changed', ctx, { from: former, to: email })
    await mails.send(`email_changed.${hashOfToken(token)}`, {
      kind: 'email_changed',
      to: { email: former },
      data: { email },
    })
  }
  setKnownBrowser(people, ctx, { email, revision: link.use.revision })
  sendNote(ctx, session, {
    title: 'Email address changed',
    body: html`<p>The address of your account is now <strong>${email}</strong>. <a href="/account">Back to your account</a></p>`,
  })
}
