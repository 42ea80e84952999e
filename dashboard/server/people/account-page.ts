/** The account without JavaScript: its data, its sessions, and its deletion. */
import type { Context } from 'koa'
import { html } from '../html.ts'
import { sendPage } from '../page.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { askPassword } from './ask-password.ts'
import { readAudit } from './audit-log.ts'
import { type Problems, sendForm, sendNote } from './form-page.ts'
import { deleteAccount, exportAccount } from './holdings.ts'
import { type People, seeOther, signOut } from './people.ts'

export const accountRoutes = (people: People): readonly DashboardRoute[] => [
  {
    method: 'GET',
    path: '/account',
    needs: 'session',
    handle: (ctx, session) => show(people, ctx, session),
  },
  {
    method: 'POST',
    path: '/account/sessions',
    needs: 'session',
    handle: async (ctx, session) => {
      const id = sentText(ctx, 'session')
      if (id === '') await endOthers(people, ctx, session)
      else await endOne(people, ctx, session, id)
      seeOther(ctx, '/account')
    },
  },
  {
    method: 'GET',
    path: '/data/sessions',
    needs: 'session',
    handle: (_ctx, session) => ({ status: 'success', sessions: sessionViews(people, session) }),
  },
  {
    method: 'DELETE',
    path: '/data/sessions/:id',
    needs: 'session',
    handle: async (ctx, session) => {
      const names: Readonly<Record<string, string>> = ctx['params']
      if (!(await endOne(people, ctx, session, names['id'] ?? '')))
        throw new Refusal(404, 'session_not_found', 'your account has no session of that id')
      return { status: 'success' }
    },
  },
  {
    method: 'DELETE',
    path: '/data/sessions',
    needs: 'session',
    handle: async (ctx, session) => {
      await endOthers(people, ctx, session)
      return { status: 'success', sessions: sessionViews(people, session) }
    },
  },
  {
    method: 'GET',
    path: '/audit-log',
    needs: 'session',
    handle: async (_ctx, { account }) => {
      const events = await readAudit(people.nc, account.id)
      return { status: 'success', count: events.length, events }
    },
  },
  {
    method: 'GET',
    path: '/account/export',
    needs: 'session',
    handle: async (ctx, { account }) => {
      people.limits.exporting.take(account.id)
      const all = await exportAccount(people, account)
      await people.audit(account.id, 'exported', ctx, {})
      ctx.set('content-disposition', 'attachment; filename="airproof-account.json"')
      ctx.type = 'application/json'
      return `${JSON.stringify(all, null, 2)}\n`
    },
  },
  {
    method: 'GET',
    path: '/account/delete',
    needs: 'session',
    handle: (ctx, session) => showDelete(ctx, session),
  },
  {
    method: 'POST',
    path: '/account/delete',
    needs: 'session',
    handle: async (ctx, session) => {
      const checked = await askPassword(people, session, sentText(ctx, 'password'))
      if ('problem' in checked) return showDelete(ctx, session, { password: checked.problem })
      await deleteAccount(people, session.account)
      signOut(ctx)
      sendNote(ctx, undefined, {
        title: 'Your account is deleted',
        body: html`<p>Its keys and webhooks have stopped working, and its address is free. Readings stay: they are the city’s.</p>`,
      })
    },
  },
]

const showDelete = (ctx: Context, session: Session, problems: Problems = {}): void =>
  sendForm(ctx, session, {
    title: 'Delete the account',
    intro: html`<p>This removes the account of <strong>${session.account.email}</strong> at once, with its API keys, webhooks and security events. It cannot be undone.</p>
<p><a href="/account/export">Download everything first</a></p>`,
    action: '/account/delete',
    fields: [
      { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
    ],
    button: 'Delete it permanently',
    isDangerous: true,
    problems,
  })

const sessionViews = ({ sessions }: People, { account, id }: Session) =>
  sessions
    .list(account.id)
    .map((session) => ({ ...session, account: undefined, is_current: session.id === id }))

async function endOne(
  { sessions, audit }: People,
  ctx: Context,
  { account, id: own }: Session,
  id: string,
): Promise<boolean> {
  if (!(await sessions.end(account.id, id))) return false
  await audit(account.id, 'session_ended', ctx, { session: id })
  if (id === own) signOut(ctx)
  return true
}

async function endOthers(
  { sessions, audit }: People,
  ctx: Context,
  { account, id }: Session,
): Promise<void> {
  await sessions.endAll(account.id, id)
  await audit(account.id, 'sessions_ended', ctx, {})
}

function show(people: People, ctx: Context, session: Session): void {
  const { account, csrf } = session
  const { email, name, organization, tier } = account
  sendPage(ctx, {
    title: 'Account',
    session,
    body: html`<h1>Account</h1>
<dl class="facts">
<dt>Name</dt><dd>${name}</dd>
${organization !== undefined && html`<dt>Organisation</dt><dd>${organization}</dd>`}
<dt>Email</dt><dd>${email} <a href="/account/email">Change</a></dd>
<dt>Password</dt><dd><a href="/account/password">Change</a></dd>
<dt>Tier</dt><dd>${tier}</dd>
</dl>
<h2>Signed in</h2>
<ul>${sessionViews(people, session).map(
      (one) => html`<li><p>${one.agent || 'A program without a name'}<br>
<span class="hint">from ${one.address}, since <time>${one.created_at}</time></span></p>
${
  one.is_current
    ? html`<p><span class="badge ok">this one</span></p>`
    : html`<form method="post" action="/account/sessions"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="session" value="${one.id}"><button aria-label="End the session since ${one.created_at}">End</button></form>`
}</li>
`,
    )}</ul>
<form method="post" action="/account/sessions"><input type="hidden" name="csrf" value="${csrf}"><button>End all others</button></form>
<p><a href="/account/export">Download all your data</a> · <a href="/account/delete">Delete the account</a></p>`,
  })
}
