/**
 * Sign-up asks only for an address: the page that the mail's link opens asks for the rest
 * (`confirm-account.ts`). Known and unknown addresses see the same page, after the same work.
 */
import type { Context } from 'koa'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { fill } from '../../texts/fill.ts'
import type { Language } from '../../texts/languages.ts'
import { hashOfToken } from '../cookies.ts'
import { type Html, html } from '../html.ts'
import { languageOf, wordsOf } from '../language.ts'
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

export const signUpAgain = (ctx: Context): Html =>
  html`<p>${fill(wordsOf(ctx).people.signUp.deadLink, { signUp: toSignUp, signIn: toSignIn })}</p>`

const toSignUp = (label: string): Html => html`<a href="/signup">${label}</a>`
const toSignIn = (label: string): Html => html`<a href="/login">${label}</a>`

function showSignUp(ctx: Context, session: Session | undefined, problems: Problems = {}): void {
  const { people: words } = wordsOf(ctx)
  sendForm(ctx, session, {
    title: words.signUp.title,
    intro: html`<p>${words.signUp.free}</p>
<p>${words.signUp.next}</p>`,
    action: '/signup',
    fields: [
      {
        name: 'email',
        label: words.email,
        type: 'email',
        autocomplete: 'email',
        value: sentText(ctx, 'email'),
      },
    ],
    button: words.signUp.button,
    problems,
    after: html`<p>${fill(words.signUp.after, { signIn: toSignIn })}</p>`,
  })
}

async function takeSignUp(
  people: People,
  ctx: Context,
  session: Session | undefined,
): Promise<void> {
  const judged = judgeEmail(sentText(ctx, 'email'), wordsOf(ctx).people)
  if ('problem' in judged) return showSignUp(ctx, session, { email: judged.problem })
  people.limits.asking.take(clientNetwork(ctx.req, people.proxies))
  const email = judged.value
  const again = await people.links.make({ kind: 'signup', resent: 0, email })
  await mailConfirmation(people, { email, language: languageOf(ctx) })
  showSent(ctx, session, { email, again })
}

function showSent(
  ctx: Context,
  session: Session | undefined,
  { email, again }: { email: string; again: string },
): void {
  const { people: words } = wordsOf(ctx)
  sendForm(ctx, session, {
    title: words.checkEmail,
    intro: html`<p>${fill(words.signUp.sent, { email: () => html`<strong>${email}</strong>` })}</p>`,
    action: '/resend',
    hidden: { signup: again },
    button: words.signUp.again,
    after: html`<p class="hint">${fill(words.signUp.noEmail, { signUp: toSignUp })}</p>`,
  })
}

async function resend(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  people.limits.asking.take(clientNetwork(ctx.req, people.proxies))
  const again = sentText(ctx, 'signup')
  const link = await people.links.look(again, 'signup')
  if (link === undefined)
    return sendDeadLink(ctx, session, { token: again, next: signUpAgain(ctx) })
  const { use, revision } = link
  const isCounted =
    use.resent < mostResends &&
    (await people.links.change(again, revision, { ...use, resent: use.resent + 1 }))
  if (!isCounted) throw tooMany(10 * 60_000)
  await mailConfirmation(people, { email: use.email, language: languageOf(ctx) })
  showSent(ctx, session, { email: use.email, again })
}

/** A link in both cases; for an address that has an account it is made, but not sent. */
async function mailConfirmation(
  people: People,
  to: { readonly email: string; readonly language: Language },
): Promise<void> {
  const { email } = to
  const { links, limits, mails, publicUrl } = people
  const { account } = await holderOf(people, email)
  if (!limits.mailing.tryTake(email)) return
  const token = await links.make({ kind: 'confirm', email })
  const data = { link: `${publicUrl}/confirm?token=${token}` }
  const known = { link: `${publicUrl}/login`, forgot: `${publicUrl}/forgot` }
  await mails.send(
    `confirm.${hashOfToken(token)}`,
    account === undefined
      ? { kind: 'confirm', to, data }
      : { kind: 'already_registered', to, data: known },
  )
}
