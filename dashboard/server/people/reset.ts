/** A forgotten password. Only an email to the address says whether it has an account. */
import type { Context } from 'koa'
import { readPassword } from '../../../operate/password-store.ts'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { hashOfToken } from '../cookies.ts'
import { html } from '../html.ts'
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
        if (link === undefined) return sendDeadLink(ctx, session, { token, next: askAgain })
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

const askAgain = html`<p><a href="/forgot">Ask for another link</a></p>`

function showForgot(ctx: Context, session: Session | undefined, problems: Problems = {}): void {
  sendForm(ctx, session, {
    title: 'Reset your password',
    intro: html`<p>We email you a link that lets you choose a new password.</p>`,
    action: '/forgot',
    fields: [
      {
        name: 'email',
        label: 'Email address',
        type: 'email',
        autocomplete: 'email',
        value: sentText(ctx, 'email'),
      },
    ],
    button: 'Send link',
    problems,
    after: html`<p><a href="/login">Sign in</a></p>`,
  })
}

async function takeForgot(
  people: People,
  ctx: Context,
  session: Session | undefined,
): Promise<void> {
  const { links, limits, mails, passwords, publicUrl, audit } = people
  const judged = judgeEmail(sentText(ctx, 'email'))
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
      to: { account: id },
      data: { link: `${publicUrl}/reset?token=${token}` },
    })
  }
  if (account !== undefined && limits.auditing.tryTake(id))
    void audit(id, 'password_reset_asked', ctx, {}).catch(() => undefined)
  sendNote(ctx, session, {
    title: 'Check your email',
    body: html`<p>If <strong>${email}</strong> has an account, we sent an email to it. Open its link within 24 hours to choose a new password.</p>
<p><a href="/login">Sign in</a></p>`,
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

const showReset = (
  ctx: Context,
  session: Session | undefined,
  { token, email, problems = {} }: Showing,
): void =>
  sendForm(ctx, session, {
    title: 'Choose a new password',
    intro: html`<p>For <strong>${email}</strong>. All devices are signed out.</p>`,
    action: '/reset',
    hidden: { token },
    fields: [
      {
        name: 'password',
        label: 'New password',
        type: 'password',
        autocomplete: 'new-password',
        hint: passwordHint,
      },
    ],
    button: 'Change password',
    problems,
  })

async function takeReset(
  people: People,
  ctx: Context,
  session: Session | undefined,
): Promise<void> {
  const { links, work, limits, mails, audit } = people
  const token = sentText(ctx, 'token')
  const link = await lookUp(people, token)
  if (link === undefined) return sendDeadLink(ctx, session, { token, next: askAgain })
  const { account, email } = link.use
  const judged = judgePassword(sentText(ctx, 'password'), email)
  if ('problem' in judged)
    return showReset(ctx, session, { token, email, problems: { password: judged.problem } })
  limits.link.take(hashOfToken(token))
  const phc = await work.hash(judged.value)
  // two requests with the same link: one of them sets its password, which makes the link void
  const revision = await setPassword(people, account, { phc, former: link.use.revision })
  if (revision === undefined) return sendDeadLink(ctx, session, { token, next: askAgain })
  await links.consume(token, link.revision)
  limits.resetting.forget(email)
  await audit(account, 'password_changed', ctx, { by: 'mail' })
  await mails.send(`password_changed.${hashOfToken(token)}`, {
    kind: 'password_changed',
    to: { account },
    data: { at: new Date(people.nowMs()).toISOString(), link: `${people.publicUrl}/forgot` },
  })
  signOut(ctx)
  // a person with access to the address's mails may sign in from here, whatever strangers try
  setKnownBrowser(people, ctx, { email, revision })
  sendNote(ctx, undefined, {
    title: 'Password changed',
    body: html`<p>All devices are signed out. API keys and webhooks still work: if another person had access to the account, check them after you sign in.</p>
<p><a class="button primary" href="/login">Sign in</a></p>`,
  })
}
