/**
 * Sign-up asks only for an address: the page that the mail's link opens asks for the rest
 * (`confirm-account.ts`). Known and unknown addresses see the same page, after the same work.
 */
import type { Context } from 'koa'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { hashOfToken } from '../cookies.ts'
import { html } from '../html.ts'
import { tooMany } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { sendDeadLink } from './dead-link.ts'
import { judgeEmail } from './fields.ts'
import { type Problems, sendForm } from './form-page.ts'
import { holderOf, type People } from './people.ts'

const mostResends = 3

export function signUpRoutes(people: People): readonly DashboardRoute[] {
  return [
    {
      method: 'GET',
      path: '/signup',
      needs: 'none',
      handle: (ctx, session) => showSignUp(ctx, session),
    },
    {
      method: 'POST',
      path: '/signup',
      needs: 'none',
      handle: (ctx, session) => takeSignUp(people, ctx, session),
    },
    {
      method: 'POST',
      path: '/resend',
      needs: 'none',
      handle: (ctx, session) => resend(people, ctx, session),
    },
  ]
}

export const signUpAgain = html`<p><a href="/signup">Sign up again</a>, or <a href="/login">sign in</a> if you have already confirmed your email.</p>`

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
  const link = await people.links.look(again, 'signup')
  if (link === undefined) return sendDeadLink(ctx, session, { token: again, next: signUpAgain })
  const { use, revision } = link
  const isCounted =
    use.resent < mostResends &&
    (await people.links.change(again, revision, { ...use, resent: use.resent + 1 }))
  if (!isCounted) throw tooMany(10 * 60_000)
  await mailConfirmation(people, use.email)
  showSent(ctx, session, { email: use.email, again })
}

/** A link in both cases; for an address that has an account it is made, but not sent. */
async function mailConfirmation(people: People, email: string): Promise<void> {
  const { links, limits, mails, publicUrl } = people
  const { account } = await holderOf(people, email)
  if (!limits.mailing.tryTake(email)) return
  const token = await links.make({ kind: 'confirm', email })
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
