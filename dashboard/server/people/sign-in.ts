/**
 * Sign-in. A wrong address and a wrong password get the same answer at the same cost: without an
 * account the password is checked all the same, and the audit log is not waited for.
 */
import type { Context } from 'koa'
import { type KeptPassword, readPassword } from '../../../operate/password-store.ts'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { fill } from '../../texts/fill.ts'
import { html } from '../html.ts'
import { keepLanguage, languageOf, wordsOf } from '../language.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { safePath, seeOther } from '../see-other.ts'
import { sentText } from '../sent-body.ts'
import { judgeEmail } from './fields.ts'
import { type Problems, sendForm } from './form-page.ts'
import { type Holder, holderOf, type People, signIn, signOut } from './people.ts'

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
  const { people } = wordsOf(ctx)
  const { signIn: words } = people
  sendForm(ctx, undefined, {
    title: words.title,
    action: '/login',
    hidden: { next },
    fields: [
      {
        name: 'email',
        label: people.email,
        type: 'email',
        autocomplete: 'username',
        value: sentText(ctx, 'email'),
      },
      {
        name: 'password',
        label: people.password,
        type: 'password',
        autocomplete: 'current-password',
      },
    ],
    button: words.button,
    problems,
    ...(status === undefined ? {} : { status }),
    after: html`<p>${fill(words.after, {
      forgot: (label) => html`<a href="/forgot">${label}</a>`,
      signUp: (label) => html`<a href="/signup">${label}</a>`,
    })}</p>
<p class="hint">${words.hint}</p>`,
  })
}

async function takeSignIn(people: People, ctx: Context): Promise<void> {
  const { work, audit, limits } = people
  const words = wordsOf(ctx).people.signIn
  const next = safePath(sentText(ctx, 'next'))
  const judged = judgeEmail(sentText(ctx, 'email'), wordsOf(ctx).people)
  const email = 'value' in judged ? judged.value : ''
  let trial: Trial
  try {
    trial = await countTry(people, ctx, email)
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 429) throw error
    ctx.set(error.headers)
    return showSignIn(ctx, { next, status: error.status, problems: { '': words.tooMany } })
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
      problems: { '': words.wrong },
    })
  }
  trial.forget()
  if (account !== undefined) await keepLanguage(people.book)(account, languageOf(ctx))
  await audit(id, 'sign_in', ctx, {})
  seeOther(ctx, next)
}

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
