/**
 * Sign-up asks for an address only. Name and password are asked for by the page that the mail's link
 * opens, so nothing that a stranger typed is in the account, and no other person knows its
 * password. Known and unknown addresses see the same page, after the same work.
 */
import type { Context } from 'koa'
import { createAccount, findAccount } from '../../../runtime/account-book.ts'
import { MustAct } from '../../../runtime/exit.ts'
import type { Account } from '../../../schemas/account.ts'
import { clientNetwork } from '../client-address.ts'
import { hashOfToken } from '../cookies.ts'
import { html } from '../html.ts'
import { writeFirstPassword } from '../password-store.ts'
import { tooMany } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import {
  type Judged,
  judgeEmail,
  judgeName,
  judgeOrganization,
  judgePassword,
  passwordHint,
} from './fields.ts'
import { type Problems, sendForm, sendNote } from './form-page.ts'
import { sendGone } from './gone.ts'
import { holderOf, type People, setKnownBrowser } from './people.ts'

const mostResends = 3

export function signUpRoutes(people: People): readonly DashboardRoute[] {
  return [
    {
      method: 'GET',
      path: '/signup',
      needs: 'nobody',
      handle: (ctx, session) => showSignUp(ctx, session),
    },
    {
      method: 'POST',
      path: '/signup',
      needs: 'nobody',
      handle: (ctx, session) => takeSignUp(people, ctx, session),
    },
    {
      method: 'POST',
      path: '/resend',
      needs: 'nobody',
      handle: (ctx, session) => resend(people, ctx, session),
    },
    {
      method: 'GET',
      path: '/confirm',
      needs: 'nobody',
      handle: async (ctx, session) => {
        const token = String(ctx.query['token'] ?? '')
        const found = await people.links.look(token, 'confirm')
        if (found === undefined) return sendGone(ctx, session, { token, next: signUpAgain })
        showConfirm(ctx, session, { token, email: found.use.email })
      },
    },
    {
      method: 'POST',
      path: '/confirm',
      needs: 'nobody',
      handle: (ctx, session) => confirm(people, ctx, session),
    },
  ]
}

const signUpAgain = html`<p><a href="/signup">Sign up again</a>, or <a href="/login">sign in</a> if you have already confirmed your email.</p>`

const showSignUp = (ctx: Context, session: Session | undefined, problems: Problems = {}): void =>
  sendForm(ctx, session, {
    title: 'Sign up',
    intro: html`<p>With an account you can create API keys: 100 requests per day are free.</p>
<p>We send you an email with a link. The link opens a page where you enter your name and choose a password.</p>`,
    action: '/signup',
    fields: [
      {
        name: 'email',
        label: 'Email address',
        type: 'email',
        autocomplete: 'email',
        value: sentText(ctx, 'email'),
      },
    ],
    button: 'Sign up',
    problems,
    after: html`<p>Already have an account? <a href="/login">Sign in</a></p>`,
  })

async function takeSignUp(
  people: People,
  ctx: Context,
  session: Session | undefined,
): Promise<void> {
  const judged = judgeEmail(sentText(ctx, 'email'))
  if ('problem' in judged) return showSignUp(ctx, session, { email: judged.problem })
  people.limits.asking.take(clientNetwork(ctx.req, people.proxies))
  const email = judged.value
  const again = await people.links.make({ kind: 'signup', resent: 0, email })
  await mailConfirmation(people, email)
  showSent(ctx, session, { email, again })
}

function showSent(
  ctx: Context,
  session: Session | undefined,
  { email, again }: { email: string; again: string },
): void {
  sendForm(ctx, session, {
    title: 'Check your email',
    intro: html`<p>We sent an email to <strong>${email}</strong>. Open its link within 24 hours to create your account.</p>`,
    action: '/resend',
    hidden: { signup: again },
    button: 'Send it again',
    after: html`<p class="hint">No email after a few minutes? Check your spam folder, or <a href="/signup">sign up again with a corrected address</a>.</p>`,
  })
}

async function resend(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  people.limits.asking.take(clientNetwork(ctx.req, people.proxies))
  const again = sentText(ctx, 'signup')
  const found = await people.links.look(again, 'signup')
  if (found === undefined) return sendGone(ctx, session, { token: again, next: signUpAgain })
  const { use, revision } = found
  const isCounted =
    use.resent < mostResends &&
    (await people.links.change(again, revision, { ...use, resent: use.resent + 1 }))
  if (!isCounted) throw tooMany(10 * 60_000)
  await mailConfirmation(people, use.email)
  showSent(ctx, session, { email: use.email, again })
}

/** A link in both cases; for an address that has an account it is made and sent to no one. */
async function mailConfirmation(people: People, email: string): Promise<void> {
  const { links, limits, mails, publicUrl } = people
  const { account } = await holderOf(people, email)
  const token = await links.make({ kind: 'confirm', email })
  if (!limits.mailing.tryTake(email)) return
  const to = { email }
  const data = { link: `${publicUrl}/confirm?token=${token}` }
  const known = { link: `${publicUrl}/login`, forgot: `${publicUrl}/forgot` }
  await mails.send(
    `confirm.${hashOfToken(token)}`,
    account === undefined
      ? { kind: 'confirm', to, data }
      : { kind: 'already_registered', to, data: known },
  )
}

type Confirming = { readonly token: string; readonly email: string; readonly problems?: Problems }

const showConfirm = (
  ctx: Context,
  session: Session | undefined,
  { token, email, problems = {} }: Confirming,
): void =>
  sendForm(ctx, session, {
    title: 'Confirm your account',
    intro: html`<p>Enter your name and choose a password to create the account.</p>
<p class="hint">If you did not sign up, close this page: no account is created.</p>`,
    action: '/confirm',
    hidden: { token },
    fields: [
      {
        name: 'email',
        label: 'Email address',
        type: 'email',
        autocomplete: 'username',
        value: email,
        isFixed: true,
      },
      {
        name: 'name',
        label: 'Full name',
        type: 'text',
        autocomplete: 'name',
        value: sentText(ctx, 'name'),
      },
      {
        name: 'organization',
        label: 'Organisation',
        type: 'text',
        autocomplete: 'organization',
        value: sentText(ctx, 'organization'),
        isOptional: true,
      },
      {
        name: 'password',
        label: 'Password',
        type: 'password',
        autocomplete: 'new-password',
        hint: passwordHint,
      },
    ],
    button: 'Create account',
    problems,
  })

/**
 * The account first, the token last: killed in between, the same link does the rest. Of two at
 * once both find the same account, and the first password stays. What a pending sign-up of 0.1
 * says of name and password is not read: its link leads to the same form.
 */
async function confirm(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  const { links, limits, passwords, work, audit } = people
  const token = sentText(ctx, 'token')
  const found = await links.look(token, 'confirm')
  if (found === undefined) return sendGone(ctx, session, { token, next: signUpAgain })
  const { email } = found.use
  const judged: Readonly<Record<string, Judged>> = {
    name: judgeName(sentText(ctx, 'name')),
    organization: judgeOrganization(sentText(ctx, 'organization')),
    password: judgePassword(sentText(ctx, 'password'), email),
  }
  const problems = problemsOf(judged)
  if (Object.keys(problems).length > 0) return showConfirm(ctx, session, { token, email, problems })
  limits.link.take(hashOfToken(token))
  const phc = await work.hash(valueOf(judged, 'password'))
  const account = await accountFor(people, email, judged)
  const revision = await writeFirstPassword(passwords, account.id, phc)
  await links.consume(token, found.revision)
  if (revision === undefined) return sendGone(ctx, session, { token, next: signUpAgain })
  await audit(account.id, 'account_created', ctx, {})
  setKnownBrowser(people, ctx, { email, revision })
  sendNote(ctx, session, {
    title: 'Email confirmed',
    body: html`<p>The account of ${email} is ready. <a class="button primary" href="/login">Sign in</a></p>`,
  })
}

async function accountFor(
  { book, nowMs }: People,
  email: string,
  judged: Readonly<Record<string, Judged>>,
): Promise<Account> {
  const organization = valueOf(judged, 'organization')
  try {
    return await createAccount(book, {
      email,
      name: valueOf(judged, 'name'),
      tier: 'free',
      nowMs: nowMs(),
      isConfirmed: true,
      ...(organization === '' ? {} : { organization }),
    })
  } catch (error) {
    const account = error instanceof MustAct ? await findAccount(book, email) : undefined
    if (account === undefined) throw error
    return account
  }
}

const problemsOf = (judged: Readonly<Record<string, Judged>>): Problems =>
  Object.fromEntries(
    Object.entries(judged).flatMap(([name, one]) =>
      'problem' in one ? [[name, one.problem]] : [],
    ),
  )

function valueOf(judged: Readonly<Record<string, Judged>>, name: string): string {
  const one = judged[name]
  return one !== undefined && 'value' in one ? one.value : ''
}
