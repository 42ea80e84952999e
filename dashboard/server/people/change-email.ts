/** Another address: it is the account's once its own mailbox has said so; the old one is told. */
import type { Context } from 'koa'
import { moveAddress } from '../../../runtime/account-book.ts'
import { hashOfToken } from '../cookies.ts'
import { html } from '../html.ts'
import { readPassword } from '../password-store.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { passwordProblem } from './ask-password.ts'
import { judgeEmail } from './fields.ts'
import { type Problems, sendForm, sendNote } from './form-page.ts'
import { sendGone } from './gone.ts'
import type { Found } from './link-tokens.ts'
import { holderOf, type People } from './people.ts'

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
    needs: 'nobody',
    handle: async (ctx, session) => {
      const token = String(ctx.query['token'] ?? '')
      const found = await lookUp(people, token)
      if (found === undefined) return sendGone(ctx, session, askAgain)
      sendForm(ctx, session, {
        title: 'Confirm the new address',
        intro: html`<p>The account of <strong>${found.use.former}</strong> will be that of <strong>${found.use.email}</strong>.</p>`,
        action: '/confirm-email',
        hidden: { token },
        button: 'Confirm',
      })
    },
  },
  {
    method: 'POST',
    path: '/confirm-email',
    needs: 'nobody',
    handle: (ctx, session) => confirm(people, ctx, session),
  },
]

const askAgain = html`<p><a href="/account/email">Ask for another link</a></p>`

const show = (ctx: Context, session: Session, problems: Problems = {}): void =>
  sendForm(ctx, session, {
    title: 'Change the e-mail address',
    intro: html`<p>It is <strong>${session.account.email}</strong> until the link in a mail to the new one was used.</p>`,
    action: '/account/email',
    fields: [
      {
        name: 'email',
        label: 'New e-mail address',
        type: 'email',
        autocomplete: 'email',
        value: sentText(ctx, 'email'),
      },
      { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
    ],
    button: 'Send the link',
    problems,
  })

async function take(people: People, ctx: Context, session: Session): Promise<void> {
  const { links, mails, limits, audit, passwords, publicUrl } = people
  const { id, email: former } = session.account
  const judged = judgeEmail(sentText(ctx, 'email'))
  if ('problem' in judged) return show(ctx, session, { email: judged.problem })
  const email = judged.value
  if (email === former) return show(ctx, session, { email: 'This is your address already' })
  const wrong = await passwordProblem(people, session, sentText(ctx, 'password'))
  if (wrong !== undefined) return show(ctx, session, { password: wrong })
  limits.asking.take(id)
  // whether the new address is another account's is told to that address alone
  const { account: other } = await holderOf(people, email)
  const kept = await readPassword(passwords, id)
  const revision = kept?.revision ?? 0
  const token = await links.make({ kind: 'email', account: id, email, former, revision })
  const to = { email }
  if (limits.mailing.tryTake(email))
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
    title: 'Look into your mail',
    body: html`<p>A mail is on its way to <strong>${email}</strong>. Its link, good for 24 hours, changes the address.</p>
<p><a href="/account">To the account</a></p>`,
  })
}

/**
 * Whoever sets a new password locks others out: what those had asked for is void.
 * @returns undefined too where the password is another one by now
 */
async function lookUp(people: People, token: string): Promise<Found<'email'> | undefined> {
  const found = await people.links.look(token, 'email')
  if (found === undefined) return undefined
  const kept = await readPassword(people.passwords, found.use.account)
  return (kept?.revision ?? 0) === found.use.revision ? found : undefined
}

/** The token goes last: killed in between, the same link does the rest. */
async function confirm(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  const { book, links, mails, audit } = people
  const token = sentText(ctx, 'token')
  const found = await lookUp(people, token)
  if (found === undefined) return sendGone(ctx, session, askAgain)
  const { account, email, former } = found.use
  if (!(await moveAddress(book, account, { from: former, to: email })))
    return sendGone(ctx, session, askAgain)
  if (await links.consume(token, found.revision)) {
    await audit(account, 'email_changed', ctx, { from: former, to: email })
    await mails.send(`email_changed.${hashOfToken(token)}`, {
      kind: 'email_changed',
      to: { email: former },
      data: { email },
    })
  }
  sendNote(ctx, session, {
    title: 'The address is changed',
    body: html`<p>Your account is that of <strong>${email}</strong> now. <a href="/account">To the account</a></p>`,
  })
}
