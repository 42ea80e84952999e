/**
 * Sign-in. A wrong address and a wrong password get the same answer at the same cost: without an
 * account the password is checked all the same, and the audit log is not waited for.
 */
import type { Context } from 'koa'
import { type KeptPassword, readPassword } from '../../../operate/password-store.ts'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { html } from '../html.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { judgeEmail } from './fields.ts'
import { type Problems, sendForm } from './form-page.ts'
import { type Holder, holderOf, type People, seeOther, signIn, signOut } from './people.ts'

export function signInRoutes(people: People): readonly DashboardRoute[] {
  return [
    {
      method: 'GET',
      path: '/login',
      needs: 'none',
      handle: (ctx, session) => {
        const next = safePath(String(ctx.query['next'] ?? '/'))
        if (session !== undefined) return seeOther(ctx, next)
        showSignIn(ctx, { next })
      },
    },
    {
      method: 'POST',
      path: '/login',
      needs: 'none',
      handle: (ctx) => takeSignIn(people, ctx),
    },
    {
      method: 'POST',
      path: '/logout',
      needs: 'none',
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
        label: 'Email address',
        type: 'email',
        autocomplete: 'username',
        value: sentText(ctx, 'email'),
      },
      { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
    ],
    button: 'Sign in',
    problems,
    ...(status === undefined ? {} : { status }),
    after: html`<p><a href="/forgot">Forgot your password?</a> · <a href="/signup">Sign up</a></p>
<p class="hint">Just signed up? Confirm your email first.</p>`,
  })
}

async function takeSignIn(people: People, ctx: Context): Promise<void> {
  const { work, audit, limits } = people
  const next = safePath(sentText(ctx, 'next'))
  const judged = judgeEmail(sentText(ctx, 'email'))
  const email = 'value' in judged ? judged.value : ''
  let trial: Trial
  try {
    trial = await countTry(people, ctx, email)
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 429) throw error
    ctx.set(error.headers)
    return showSignIn(ctx, { next, status: error.status, problems: { '': tooManyTries } })
  }
  const { id, account, stored, isKnown } = trial
  const password = sentText(ctx, 'password')
  const isRight = await work.matches(password, stored?.phc, { isKnown })
  const isSignedIn =
    isRight &&
    stored !== undefined &&
    account !== undefined &&
    (await signIn(people, ctx, { id, email, revision: stored.revision }))
  if (!isSignedIn) {
    if (account !== undefined && limits.auditing.tryTake(id))
      void audit(id, 'sign_in_failed', ctx, {}).catch(() => undefined)
    return showSignIn(ctx, {
      next,
      status: 401,
      problems: { '': 'The email address or the password is wrong' },
    })
  }
  trial.forget()
  await audit(id, 'sign_in', ctx, {})
  seeOther(ctx, next)
}

const tooManyTries =
  'Too many attempts. Wait a minute, or reset your password: after that you can sign in at once'

type Trial = Holder & {
  readonly stored: KeptPassword | undefined
  /** The browser has signed in to this very password before. */
  readonly isKnown: boolean
  /** Called when the password was right. */
  readonly forget: () => void
}

/**
 * A browser that is known to the address has its own count, so that no amount of guessing from
 * elsewhere keeps the owner out.
 * @throws Refusal 429
 */
async function countTry(people: People, ctx: Context, email: string): Promise<Trial> {
  const { limits, browsers, proxies } = people
  const mark = browsers.find(ctx.req, email)
  if (mark !== undefined) {
    limits.known.take(mark.id)
    const holder = await passwordOf(people, email)
    if (holder.stored?.revision === mark.revision)
      return { ...holder, isKnown: true, forget: () => limits.known.forget(mark.id) }
  }
  const network = clientNetwork(ctx.req, proxies)
  const pair = `${network} ${email}`
  limits.pair.take(pair)
  limits.network.take(network)
  limits.email.take(email)
  const holder = await passwordOf(people, email)
  return { ...holder, isKnown: false, forget: () => limits.pair.forget(pair) }
}

async function passwordOf(people: People, email: string) {
  const holder = await holderOf(people, email)
  return { ...holder, stored: await readPassword(people.passwords, holder.id) }
}

async function leave(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  if (session !== undefined) {
    await people.sessions.end(session.account.id, session.id)
    await people.audit(session.account.id, 'sign_out', ctx, {})
  }
  signOut(ctx)
  seeOther(ctx, '/')
}

/** Only our own paths: else a link could send people elsewhere after sign-in. */
export const safePath = (text: string): string =>
  /^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(text) && !text.includes('\\') ? text : '/'
