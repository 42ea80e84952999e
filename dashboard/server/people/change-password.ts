import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { formatIso } from '../../../core/iso-time.ts'
import { html } from '../html.ts'
import { languageOf, wordsOf } from '../language.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { seeOther } from '../see-other.ts'
import { sentText } from '../sent-body.ts'
import { askPassword } from './ask-password.ts'
import { judgePassword, passwordHint } from './fields.ts'
import { type Problems, sendForm } from './form-page.ts'
import { type People, setPassword, signIn } from './people.ts'

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

function show(ctx: Context, session: Session, problems: Problems = {}): void {
  const { people: words } = wordsOf(ctx)
  sendForm(ctx, session, {
    title: words.changePassword.title,
    intro: html`<p>${words.changePassword.intro}</p>`,
    action: '/account/password',
    fields: [
      {
        name: 'current',
        label: words.currentPassword,
        type: 'password',
        autocomplete: 'current-password',
      },
      {
        name: 'password',
        label: words.newPassword,
        type: 'password',
        autocomplete: 'new-password',
        hint: passwordHint(words),
      },
    ],
    button: words.changePassword.button,
    problems,
  })
}

async function take(people: People, ctx: Context, session: Session): Promise<void> {
  const { id, email } = session.account
  const words = wordsOf(ctx).people
  const judged = judgePassword(sentText(ctx, 'password'), email, words)
  if ('problem' in judged) return show(ctx, session, { password: judged.problem })
  const checked = await askPassword(people, session, {
    password: sentText(ctx, 'current'),
    words,
  })
  if ('problem' in checked) return show(ctx, session, { current: checked.problem })
  const phc = await people.work.hash(judged.value)
  const revision = await setPassword(people, id, { phc, former: checked.revision })
  if (revision === undefined) return show(ctx, session, { current: words.problems.replaced })
  await signIn(people, ctx, { id, email, revision })
  await people.audit(id, 'password_changed', ctx, { by: 'account' })
  const at = formatIso(people.nowMs())
  // a random id, so that no other process can queue it first: the stream takes an id once
  await people.mails.send(`password_changed.${randomUUID()}`, {
    kind: 'password_changed',
    to: { account: id, language: languageOf(ctx) },
    data: { at, link: `${people.publicUrl}/forgot` },
  })
  seeOther(ctx, '/account')
}
