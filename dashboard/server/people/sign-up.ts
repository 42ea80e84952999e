/**
 * Sign-up: nothing is made before the mail's link was used, so nobody can hold an address that is
 * not theirs. Known and unknown addresses see the same page, after the same work.
 */
import type { Context } from 'koa'
import { createAccount, findAccount } from '../../../runtime/account-book.ts'
import { clientNetwork } from '../../../runtime/client-network.ts'
import { MustAct } from '../../../runtime/exit.ts'
import type { Account } from '../../../schemas/account.ts'
import { hashOfToken } from '../cookies.ts'
import { html } from '../html.ts'
import { writeFirstPassword } from '../password-store.ts'
import { tooMany } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { type Judged, judgeEmail, judgeName, judgeOrganization, judgePassword } from './fields.ts'
import { type Field, type Problems, sendForm, sendNote } from './form-page.ts'
import { sendGone } from './gone.ts'
import type { SignUp } from './link-tokens.ts'
import { holderOf, type People } from './people.ts'

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
        if (found === undefined) return sendGone(ctx, session, signUpAgain)
        const { email, name } = found.use
        sendForm(ctx, session, {
          title: 'Confirm your address',
          intro: html`<p>${name}, this makes the account of <strong>${email}</strong>.</p>
<p class="hint">If you did not sign up, close this page: without the button nothing happens.</p>`,
          action: '/confirm',
          hidden: { token },
          button: 'Confirm',
        })
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

const signUpAgain = html`<p><a href="/signup">Sign up again</a>, or <a href="/login">sign in</a> if you have confirmed already.</p>`

function showSignUp(ctx: Context, session: Session | undefined, problems: Problems = {}): void {
  const fields: readonly Field[] = [
    {
      name: 'email',
      label: 'E-mail address',
      type: 'email',
      autocomplete: 'email',
      value: sentText(ctx, 'email'),
    },
    {
      name: 'password',
      label: 'Password',
      type: 'password',
      autocomplete: 'new-password',
      hint: '8 to 128 characters; a few words make a good one',
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
  ]
  sendForm(ctx, session, {
    title: 'Sign up',
    intro: html`<p>An account lets you make API keys: 100 requests a day are free.</p>`,
    action: '/signup',
    fields,
    button: 'Sign up',
    problems,
    after: html`<p>You have an account? <a href="/login">Sign in</a></p>`,
  })
}

async function takeSignUp(
  people: People,
  ctx: Context,
  session: Session | undefined,
): Promise<void> {
  const email = judgeEmail(sentText(ctx, 'email'))
  const judged: Readonly<Record<string, Judged>> = {
    email,
    password: judgePassword(sentText(ctx, 'password'), 'value' in email ? email.value : ''),
    name: judgeName(sentText(ctx, 'name')),
    organization: judgeOrganization(sentText(ctx, 'organization')),
  }
  const problems = problemsOf(judged)
  if (Object.keys(problems).length > 0) return showSignUp(ctx, session, problems)
  people.limits.asking.take(clientNetwork(ctx.req, people.proxies))
  const signUp: SignUp = {
    email: valueOf(judged, 'email'),
    name: valueOf(judged, 'name'),
    organization: valueOf(judged, 'organization'),
    phc: await people.work.hash(valueOf(judged, 'password')),
  }
  const again = await people.links.make({ kind: 'signup', resent: 0, ...signUp })
  await mailConfirmation(people, signUp)
  showSent(ctx, session, { email: signUp.email, again })
}

function showSent(
  ctx: Context,
  session: Session | undefined,
  { email, again }: { email: string; again: string },
): void {
  sendForm(ctx, session, {
    title: 'Look into your mail',
    intro: html`<p>A mail is on its way to <strong>${email}</strong>. Its link, good for 24 hours, makes the account.</p>`,
    action: '/resend',
    hidden: { signup: again },
    button: 'Send it again',
    after: html`<p class="hint">Nothing there after some minutes? Look into the folder for junk, or <a href="/signup">sign up</a> with the address spelt anew.</p>`,
  })
}

async function resend(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  people.limits.asking.take(clientNetwork(ctx.req, people.proxies))
  const again = sentText(ctx, 'signup')
  const found = await people.links.look(again, 'signup')
  if (found === undefined) return sendGone(ctx, session, signUpAgain)
  const { use, revision } = found
  const isCounted =
    use.resent < mostResends &&
    (await people.links.change(again, revision, { ...use, resent: use.resent + 1 }))
  if (!isCounted) throw tooMany(10 * 60_000)
  const { email, name, organization, phc } = use
  await mailConfirmation(people, { email, name, organization, phc })
  showSent(ctx, session, { email, again })
}

/** A link in both cases; for an address that has an account it is made and told to nobody. */
async function mailConfirmation(people: People, signUp: SignUp): Promise<void> {
  const { links, limits, mails, publicUrl } = people
  const { account } = await holderOf(people, signUp.email)
  const token = await links.make({ kind: 'confirm', ...signUp })
  if (!limits.mailing.tryTake(signUp.email)) return
  const to = { email: signUp.email }
  const data = { link: `${publicUrl}/confirm?token=${token}` }
  const known = { link: `${publicUrl}/login`, forgot: `${publicUrl}/forgot` }
  await mails.send(
    `confirm.${hashOfToken(token)}`,
    account === undefined
      ? { kind: 'confirm', to, data }
      : { kind: 'already_registered', to, data: known },
  )
}

/**
 * The account first, the token last: killed in between, the same link does the rest. Of two at
 * once both find the same account, and the first password stays.
 */
async function confirm(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  const { links, passwords, audit } = people
  const token = sentText(ctx, 'token')
  const found = await links.look(token, 'confirm')
  if (found === undefined) return sendGone(ctx, session, signUpAgain)
  const account = await accountFor(people, found.use)
  const isFirst = await writeFirstPassword(passwords, account.id, found.use.phc)
  await links.consume(token, found.revision)
  if (!isFirst) return sendGone(ctx, session, signUpAgain)
  await audit(account.id, 'account_created', ctx, {})
  sendNote(ctx, session, {
    title: 'You have an account',
    body: html`<p>${account.email} is confirmed. <a class="button primary" href="/login">Sign in</a></p>`,
  })
}

async function accountFor({ book, nowMs }: People, signUp: SignUp): Promise<Account> {
  const { email, name, organization } = signUp
  try {
    return await createAccount(book, {
      email,
      name,
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

export const problemsOf = (judged: Readonly<Record<string, Judged>>): Problems =>
  Object.fromEntries(
    Object.entries(judged).flatMap(([name, one]) =>
      'problem' in one ? [[name, one.problem]] : [],
    ),
  )

function valueOf(judged: Readonly<Record<string, Judged>>, name: string): string {
  const one = judged[name]
  return one !== undefined && 'value' in one ? one.value : ''
}
