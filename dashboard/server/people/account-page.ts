/** The account without JavaScript: its data, its sessions, and its deletion. */

import type { Context } from 'koa'
import { browserWords } from '../../browser-words.ts'
import { fill } from '../../texts/fill.ts'
import { readAudit } from '../account-api/audit.ts'
import { type Html, html } from '../html.ts'
import { type Words, wordsOf } from '../language.ts'
import { sendPage } from '../page.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { seeOther } from '../see-other.ts'
import { sentText } from '../sent-body.ts'
import { askPassword } from './ask-password.ts'
import { type Problems, sendForm, sendNote } from './form-page.ts'
import { deleteAccount, exportAccount } from './holdings.ts'
import { type People, signOut } from './people.ts'

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
      const { people: words } = wordsOf(ctx)
      const checked = await askPassword(people, session, {
        password: sentText(ctx, 'password'),
        words,
      })
      if ('problem' in checked) return showDelete(ctx, session, { password: checked.problem })
      await deleteAccount(people, session.account)
      signOut(ctx)
      sendNote(ctx, undefined, {
        title: words.deleteAccount.doneTitle,
        body: html`<p>${words.deleteAccount.done}</p>`,
      })
    },
  },
]

function showDelete(ctx: Context, session: Session, problems: Problems = {}): void {
  const { people: words } = wordsOf(ctx)
  const { deleteAccount } = words
  sendForm(ctx, session, {
    title: deleteAccount.title,
    intro: html`<p>${fill(deleteAccount.intro, {
      email: () => html`<strong>${session.account.email}</strong>`,
    })}</p>
<p>${fill(deleteAccount.first, { export: toExport })}</p>`,
    action: '/account/delete',
    fields: [
      {
        name: 'password',
        label: words.password,
        type: 'password',
        autocomplete: 'current-password',
      },
    ],
    button: deleteAccount.button,
    isDangerous: true,
    problems,
  })
}

const toExport = (label: string): Html => html`<a href="/account/export">${label}</a>`

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
  const { csrf } = session
  const words = wordsOf(ctx)
  const { account: own } = words.people
  sendPage(ctx, {
    title: own.title,
    session,
    body: html`<h1>${own.title}</h1>
${facts(words, session)}
<h2>${own.signedIn}</h2>
<ul class="plain">${sessionViews(people, session).map((one) => sessionItem(words, one, csrf))}</ul>
<form method="post" action="/account/sessions"><input type="hidden" name="csrf" value="${csrf}"><button>${own.endOthers}</button></form>
<p>${fill(own.more, {
      export: toExport,
      delete: (label) => html`<a href="/account/delete">${label}</a>`,
    })}</p>`,
  })
}

function facts({ people: words }: Words, { account }: Session): Html {
  const { email, name, organization, tier } = account
  const { account: own } = words
  const change = (what: string, path: string): Html =>
    html`<a href="${path}" aria-label="${own.changeOf(what)}">${own.change}</a>`
  return html`<dl class="facts">
<dt>${words.name}</dt><dd>${name}</dd>
${organization !== undefined && html`<dt>${words.organization}</dt><dd>${organization}</dd>`}
<dt>${words.email}</dt><dd>${email} ${change(words.email, '/account/email')}</dd>
<dt>${words.password}</dt><dd>${change(words.password, '/account/password')}</dd>
<dt>${own.tier}</dt><dd>${own.tiers[tier]}</dd>
</dl>`
}

type SessionView = ReturnType<typeof sessionViews>[number]

function sessionItem(words: Words, view: SessionView, csrf: string): Html {
  const { account: own } = words.people
  const browser = browserWords(view.agent, words.common)
  const time = words.format.date(Date.parse(view.created_at), sinceWhen, 'UTC')
  return html`<li class="row between">
<div><strong title="${view.agent}">${browser}</strong>${view.is_current && html` <span class="badge ok">${own.thisDevice}</span>`}<br>
<span class="hint">${fill(own.since, {
    address: () => html`${view.address}`,
    time: () => html`<time datetime="${view.created_at}">${time}</time>`,
  })}</span></div>
${
  !view.is_current &&
  html`<form method="post" action="/account/sessions"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="session" value="${view.id}"><button aria-label="${own.endOf(`${browser}, ${time}`)}">${own.end}</button></form>`
}</li>
`
}

/** The server does not know the reader's zone, so it names the one it writes in. */
const sinceWhen = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
} as const
