/**
 * Sign-in. A wrong address and a wrong password sound the same and cost the same: the password is
 * checked against nobody's where there is no account, and what is written down is not waited for.
 */
import type { Context } from 'koa'
import { clientNetwork } from '../../../runtime/client-network.ts'
import { html } from '../html.ts'
import { readPassword } from '../password-store.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { judgeEmail } from './fields.ts'
import { type Problems, sendForm } from './form-page.ts'
import { holderOf, type People, seeOther, signIn, signOut } from './people.ts'

export function signInRoutes(people: People): readonly DashboardRoute[] {
  return [
    {
      method: 'GET',
      path: '/login',
      needs: 'nobody',
      handle: (ctx, session) => {
        const next = safePath(String(ctx.query['next'] ?? '/'))
        if (session !== undefined) return seeOther(ctx, next)
        showSignIn(ctx, { next })
      },
    },
    {
      method: 'POST',
      path: '/login',
      needs: 'nobody',
      handle: (ctx) => takeSignIn(people, ctx),
    },
    {
      method: 'POST',
      path: '/logout',
      needs: 'nobody',
      handle: (ctx, session) => leave(people, ctx, session),
    },
  ]
}

type Showing = { readonly next: string; readonly problems?: Problems; readonly status?: number }

function showSignIn(ctx: Context, { next, problems = {}, status }: Showing): void {
  sendForm(ctx, undefined, {
    title: 'Sign in',
    action: '/login',
    hidden: { next },
    fields: [
      {
        name: 'email',
        label: 'E-mail address',
        type: 'email',
        autocomplete: 'username',
        value: sentText(ctx, 'email'),
      },
      { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
    ],
    button: 'Sign in',
    problems,
    ...(status === undefined ? {} : { status }),
    after: html`<p><a href="/forgot">Forgotten the password?</a> · <a href="/signup">Sign up</a></p>
<p class="hint">Signed up a moment ago? The link in your mail comes first.</p>`,
  })
}

async function takeSignIn(people: People, ctx: Context): Promise<void> {
  const { limits, work, passwords, audit, proxies } = people
  const next = safePath(sentText(ctx, 'next'))
  const judged = judgeEmail(sentText(ctx, 'email'))
  const email = 'value' in judged ? judged.value : ''
  const network = clientNetwork(ctx.req, proxies)
  const pair = `${network} ${email}`
  try {
    limits.pair.take(pair)
    limits.network.take(network)
    limits.email.take(email)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    ctx.set(error.headers)
    return showSignIn(ctx, {
      next,
      status: error.status,
      problems: { '': 'Too many tries: wait a minute and try again' },
    })
  }
  const { id, account } = await holderOf(people, email)
  const kept = await readPassword(passwords, id)
  if (!(await work.matches(sentText(ctx, 'password'), kept?.phc)) || account === undefined) {
    if (account !== undefined && limits.telling.tryTake(id))
      void audit(id, 'sign_in_failed', ctx, {}).catch(() => undefined)
    return showSignIn(ctx, {
      next,
      status: 401,
      problems: { '': 'The e-mail address or the password is wrong' },
    })
  }
  limits.pair.forget(pair)
  await signIn(people, ctx, id)
  await audit(id, 'sign_in', ctx, {})
  seeOther(ctx, next)
}

async function leave(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  if (session !== undefined) {
    await people.sessions.end(session.account.id, session.id)
    await people.audit(session.account.id, 'sign_out', ctx, {})
  }
  signOut(ctx)
  seeOther(ctx, '/')
}

/** A path of ours: anything else would let a link send people elsewhere after sign-in. */
export const safePath = (text: string): string =>
  /^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(text) && !text.includes('\\') ? text : '/'
