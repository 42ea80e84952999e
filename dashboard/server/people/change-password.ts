import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { formatIso } from '../../../core/iso-time.ts'
import { html } from '../html.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { askPassword } from './ask-password.ts'
import { judgePassword, passwordHint } from './fields.ts'
import { type Problems, sendForm } from './form-page.ts'
import { type People, seeOther, setPassword, signIn } from './people.ts'

export const passwordRoutes = (people: People): readonly DashboardRoute[] => [
  {
    method: 'GET',
    path: '/account/password',
    needs: 'session',
    handle: (ctx, session) => show(ctx, session),
  },
  {
    method: 'POST',
    path: '/account/password',
    needs: 'session',
    handle: (ctx, session) => take(people, ctx, session),
  },
]

const show = (ctx: Context, session: Session, problems: Problems = {}): void =>
  sendForm(ctx, session, {
    title: 'Change password',
    intro: html`<p>All other devices are signed out.</p>`,
    action: '/account/password',
    fields: [
      {
        name: 'current',
        label: 'Current password',
        type: 'password',
        autocomplete: 'current-password',
      },
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

const replaced = 'Your password was changed meanwhile: sign in again with the new one'

async function take(people: People, ctx: Context, session: Session): Promise<void> {
  const { id, email } = session.account
  const judged = judgePassword(sentText(ctx, 'password'), email)
  if ('problem' in judged) return show(ctx, session, { password: judged.problem })
  const checked = await askPassword(people, session, sentText(ctx, 'current'))
  if ('problem' in checked) return show(ctx, session, { current: checked.problem })
  const phc = await people.work.hash(judged.value)
  const revision = await setPassword(people, id, { phc, former: checked.revision })
  if (revision === undefined) return show(ctx, session, { current: replaced })
  await signIn(people, ctx, { id, email, revision })
  await people.audit(id, 'password_changed', ctx, { by: 'account' })
  const at = formatIso(people.nowMs())
  // a random id, so that no other process can queue it first: the stream takes an id once
  await people.mails.send(`password_changed.${randomUUID()}`, {
    kind: 'password_changed',
    to: { account: id },
    data: { at, link: `${people.publicUrl}/forgot` },
  })
  seeOther(ctx, '/account')
}
