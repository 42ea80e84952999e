/**
 * Another address: it becomes the account's when its mailbox has received the link and the
 * account's own session opens it; the old address gets a notice. Without the session, the owner of
 * a mailbox could be led to take over a stranger's account, with that stranger's keys and webhooks
 * in it.
 */
import type { Context } from 'koa'
import { moveAddress } from '../../../operate/account-book.ts'
import { readPassword } from '../../../operate/password-store.ts'
import { fill } from '../../texts/fill.ts'
import { hashOfToken } from '../cookies.ts'
import { type Html, html } from '../html.ts'
import { languageOf, wordsOf } from '../language.ts'
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
      if (link === undefined) return sendDeadLink(ctx, session, { token, next: askAgain(ctx) })
      const { changeEmail } = wordsOf(ctx).people
      sendForm(ctx, session, {
        title: changeEmail.confirmTitle,
        intro: html`<p>${fill(changeEmail.confirmIntro, {
          former: () => html`<strong>${link.use.former}</strong>`,
          email: () => html`<strong>${link.use.email}</strong>`,
        })}</p>`,
        action: '/confirm-email',
        hidden: { token },
        button: changeEmail.confirm,
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

const askAgain = (ctx: Context): Html =>
  html`<p>${fill(wordsOf(ctx).people.changeEmail.deadLink, {
    change: (label) => html`<a href="/account/email">${label}</a>`,
  })}</p>`

const toAccount = (label: string): Html => html`<a href="/account">${label}</a>`

function show(ctx: Context, session: Session, problems: Problems = {}): void {
  const { people: words } = wordsOf(ctx)
  sendForm(ctx, session, {
    title: words.changeEmail.title,
    intro: html`<p>${fill(words.changeEmail.intro, {
      email: () => html`<strong>${session.account.email}</strong>`,
    })}</p>`,
    action: '/account/email',
    fields: [
      {
        name: 'email',
        label: words.newEmail,
        type: 'email',
        autocomplete: 'email',
        value: sentText(ctx, 'email'),
      },
      {
        name: 'password',
        label: words.password,
        type: 'password',
        autocomplete: 'current-password',
      },
    ],
    button: words.sendLink,
    problems,
  })
}

async function take(people: People, ctx: Context, session: Session): Promise<void> {
  const { links, mails, limits, audit, publicUrl } = people
  const { id, email: former } = session.account
  const { people: words } = wordsOf(ctx)
  const judged = judgeEmail(sentText(ctx, 'email'), words)
  if ('problem' in judged) return show(ctx, session, { email: judged.problem })
  const email = judged.value
  if (email === former) return show(ctx, session, { email: words.problems.sameEmail })
  const checked = await askPassword(people, session, {
    password: sentText(ctx, 'password'),
    words,
  })
  if ('problem' in checked) return show(ctx, session, { password: checked.problem })
  limits.asking.take(id)
  limits.moving.take(email)
  // only the new address learns whether it is another account's
  const { account: other } = await holderOf(people, email)
  const { revision } = checked
  const token = await links.make({ kind: 'email', account: id, email, former, revision })
  const to = { email, language: languageOf(ctx) }
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
    title: words.checkEmail,
    body: html`<p>${fill(words.changeEmail.sent, { email: () => html`<strong>${email}</strong>` })}</p>
<p>${fill(words.backToAccount, { account: toAccount })}</p>`,
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
  if (link === undefined) return sendDeadLink(ctx, session, { token, next: askAgain(ctx) })
  const { account, email, former } = link.use
  if (!(await moveAddress(book, account, { from: former, to: email })))
    return sendDeadLink(ctx, session, { token, next: askAgain(ctx) })
  if (await links.consume(token, link.revision)) {
    await audit(account, 'email_changed', ctx, { from: former, to: email })
    await mails.send(`email_changed.${hashOfToken(token)}`, {
      kind: 'email_changed',
      to: { email: former, language: languageOf(ctx) },
      data: { email },
    })
  }
  setKnownBrowser(people, ctx, { email, revision: link.use.revision })
  const { changeEmail } = wordsOf(ctx).people
  sendNote(ctx, session, {
    title: changeEmail.doneTitle,
    body: html`<p>${fill(changeEmail.done, {
      email: () => html`<strong>${email}</strong>`,
      account: toAccount,
    })}</p>`,
  })
}
