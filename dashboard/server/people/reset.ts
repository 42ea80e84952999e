/** A forgotten password. Only an email to the address says whether it has an account. */
import type { Context } from 'koa'
import { readPassword } from '../../../operate/password-store.ts'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { fill } from '../../texts/fill.ts'
import { hashOfToken } from '../cookies.ts'
import { type Html, html } from '../html.ts'
import { languageOf, wordsOf } from '../language.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { sendDeadLink } from './dead-link.ts'
import { judgeEmail, judgePassword, passwordHint } from './fields.ts'
import { type Problems, sendForm, sendNote } from './form-page.ts'
import type { Found } from './link-tokens.ts'
import { holderOf, type People, setKnownBrowser, setPassword, signOut } from './people.ts'

export function resetRoutes(people: People): readonly DashboardRoute[] {
  return [
    {
      method: 'GET',
      path: '/forgot',
      needs: 'none',
      handle: (ctx, session) => showForgot(ctx, session),
    },
    {
      method: 'POST',
      path: '/forgot',
      needs: 'none',
      handle: (ctx, session) => takeForgot(people, ctx, session),
    },
    {
      method: 'GET',
      path: '/reset',
      needs: 'none',
      handle: async (ctx, session) => {
        const token = String(ctx.query['token'] ?? '')
        const link = await lookUp(people, token)
        if (link === undefined) return sendDeadLink(ctx, session, { token, next: askAgain(ctx) })
        showReset(ctx, session, { token, email: link.use.email })
      },
    },
    {
      method: 'POST',
      path: '/reset',
      needs: 'none',
      handle: (ctx, session) => takeReset(people, ctx, session),
    },
  ]
}

const toSignIn = (label: string): Html => html`<a href="/login">${label}</a>`

const askAgain = (ctx: Context): Html =>
  html`<p>${fill(wordsOf(ctx).people.reset.deadLink, {
    forgot: (label) => html`<a href="/forgot">${label}</a>`,
  })}</p>`

function showForgot(ctx: Context, session: Session | undefined, problems: Problems = {}): void {
  const { people: words } = wordsOf(ctx)
  sendForm(ctx, session, {
    title: words.reset.title,
    intro: html`<p>${words.reset.intro}</p>`,
    action: '/forgot',
    fields: [
      {
        name: 'email',
        label: words.email,
        type: 'email',
        autocomplete: 'email',
        value: sentText(ctx, 'email'),
      },
    ],
    button: words.sendLink,
    problems,
    after: html`<p>${fill(words.reset.signIn, { signIn: toSignIn })}</p>`,
  })
}

async function takeForgot(
  people: People,
  ctx: Context,
  session: Session | undefined,
): Promise<void> {
  const { links, limits, mails, passwords, publicUrl, audit } = people
  const { people: words } = wordsOf(ctx)
  const judged = judgeEmail(sentText(ctx, 'email'), words)
  if ('problem' in judged) return showForgot(ctx, session, { email: judged.problem })
  limits.asking.take(clientNetwork(ctx.req, people.proxies))
  const email = judged.value
  const { id, account } = await holderOf(people, email)
  const stored = await readPassword(passwords, id)
  // for an address without an account a mail is queued too: it has no recipient, and is not sent
  if (limits.resetting.tryTake(email)) {
    const revision = stored?.revision ?? 0
    const token = await links.make({ kind: 'reset', account: id, email, revision })
    await mails.send(`reset.${hashOfToken(token)}`, {
      kind: 'reset',
      to: { account: id, language: languageOf(ctx) },
      data: { link: `${publicUrl}/reset?token=${token}` },
    })
  }
  if (account !== undefined && limits.auditing.tryTake(id))
    void audit(id, 'password_reset_asked', ctx, {}).catch(() => undefined)
  sendNote(ctx, session, {
    title: words.checkEmail,
    body: html`<p>${fill(words.reset.sent, { email: () => html`<strong>${email}</strong>` })}</p>
<p>${fill(words.reset.signIn, { signIn: toSignIn })}</p>`,
  })
}

/** @returns undefined too where the password or the address has changed */
async function lookUp(people: People, token: string): Promise<Found<'reset'> | undefined> {
  const link = await people.links.look(token, 'reset')
  if (link === undefined) return undefined
  const { account: id, email, revision } = link.use
  const holder = await holderOf(people, email)
  const stored = await readPassword(people.passwords, id)
  const isValid = holder.account?.id === id && (stored?.revision ?? 0) === revision
  return isValid ? link : undefined
}

type Showing = { readonly token: string; readonly email: string; readonly problems?: Problems }

function showReset(
  ctx: Context,
  session: Session | undefined,
  { token, email, problems = {} }: Showing,
): void {
  const { people: words } = wordsOf(ctx)
  sendForm(ctx, session, {
    title: words.reset.choose,
    intro: html`<p>${fill(words.reset.chooseIntro, { email: () => html`<strong>${email}</strong>` })}</p>`,
    action: '/reset',
    hidden: { token },
    fields: [
      {
        name: 'password',
        label: words.newPassword,
        type: 'password',
        autocomplete: 'new-password',
        hint: passwordHint(words),
      },
    ],
    button: words.reset.button,
    problems,
  })
}

async function takeReset(
  people: People,
  ctx: Context,
  session: Session | undefined,
): Promise<void> {
  const { links, work, limits, mails, audit } = people
  const token = sentText(ctx, 'token')
  const link = await lookUp(people, token)
  if (link === undefined) return sendDeadLink(ctx, session, { token, next: askAgain(ctx) })
  const { account, email } = link.use
  const { people: words } = wordsOf(ctx)
  const judged = judgePassword(sentText(ctx, 'password'), email, words)
  if ('problem' in judged)
    return showReset(ctx, session, { token, email, problems: { password: judged.problem } })
  limits.link.take(hashOfToken(token))
  const phc = await work.hash(judged.value)
  // two requests with the same link: one of them sets its password, which makes the link void
  const revision = await setPassword(people, account, { phc, former: link.use.revision })
  if (revision === undefined) return sendDeadLink(ctx, session, { token, next: askAgain(ctx) })
  await links.consume(token, link.revision)
  limits.resetting.forget(email)
  await audit(account, 'password_changed', ctx, { by: 'mail' })
  await mails.send(`password_changed.${hashOfToken(token)}`, {
    kind: 'password_changed',
    to: { account, language: languageOf(ctx) },
    data: { at: new Date(people.nowMs()).toISOString(), link: `${people.publicUrl}/forgot` },
  })
  signOut(ctx)
  // a person with access to the address's mails may sign in from here, whatever strangers try
  setKnownBrowser(people, ctx, { email, revision })
  sendNote(ctx, undefined, {
    title: words.reset.doneTitle,
    body: html`<p>${words.reset.done}</p>
<p><a class="button primary" href="/login">${words.signIn.button}</a></p>`,
  })
}
