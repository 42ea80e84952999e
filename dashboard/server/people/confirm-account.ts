/**
 * The page that the mail's link opens makes the account: with the name and the password of the
 * person who reads the mail, so nothing that a stranger typed at sign-up is in it.
 */
import type { Context } from 'koa'
import { createAccount, findAccount } from '../../../operate/account-book.ts'
import { writePassword } from '../../../operate/password-store.ts'
import { MustAct } from '../../../runtime/exit.ts'
import type { Account } from '../../../schemas/people/account.ts'
import { fill } from '../../texts/fill.ts'
import type { Language } from '../../texts/languages.ts'
import { hashOfToken } from '../cookies.ts'
import { html } from '../html.ts'
import { languageOf, wordsOf } from '../language.ts'
import type { DashboardRoute, Session } from '../route.ts'
import { sentText } from '../sent-body.ts'
import { sendDeadLink } from './dead-link.ts'
import { type Judged, judgeName, judgeOrganization, judgePassword, passwordHint } from './fields.ts'
import { type Problems, sendForm, sendNote } from './form-page.ts'
import { type People, setKnownBrowser } from './people.ts'
import { signUpAgain } from './sign-up.ts'

export const confirmRoutes = (people: People): readonly DashboardRoute[] => [
  {
    method: 'GET',
    path: '/confirm',
    needs: 'none',
    handle: async (ctx, session) => {
      const token = String(ctx.query['token'] ?? '')
      const link = await people.links.look(token, 'confirm')
      if (link === undefined) return sendDeadLink(ctx, session, { token, next: signUpAgain(ctx) })
      showConfirm(ctx, session, { token, email: link.use.email })
    },
  },
  {
    method: 'POST',
    path: '/confirm',
    needs: 'none',
    handle: (ctx, session) => confirm(people, ctx, session),
  },
]

type Confirming = { readonly token: string; readonly email: string; readonly problems?: Problems }

function showConfirm(
  ctx: Context,
  session: Session | undefined,
  { token, email, problems = {} }: Confirming,
): void {
  const { people: words } = wordsOf(ctx)
  sendForm(ctx, session, {
    title: words.confirm.title,
    intro: html`<p>${words.confirm.intro}</p>
<p class="hint">${words.confirm.notYou}</p>`,
    action: '/confirm',
    hidden: { token },
    fields: [
      {
        name: 'email',
        label: words.email,
        type: 'email',
        autocomplete: 'username',
        value: email,
        isFixed: true,
      },
      {
        name: 'name',
        label: words.name,
        type: 'text',
        autocomplete: 'name',
        value: sentText(ctx, 'name'),
      },
      {
        name: 'organization',
        label: words.organization,
        type: 'text',
        autocomplete: 'organization',
        value: sentText(ctx, 'organization'),
        isOptional: true,
      },
      {
        name: 'password',
        label: words.password,
        type: 'password',
        autocomplete: 'new-password',
        hint: passwordHint(words),
      },
    ],
    button: words.confirm.button,
    problems,
  })
}

/**
 * The account first, the token last: killed in between, the same link does the rest. Two requests
 * at once find the same account, and the first password stays. Name and password in a pending
 * sign-up of 0.1 are not read: its link leads to the same form.
 */
async function confirm(people: People, ctx: Context, session: Session | undefined): Promise<void> {
  const { links, limits, passwords, work, audit } = people
  const token = sentText(ctx, 'token')
  const link = await links.look(token, 'confirm')
  if (link === undefined) return sendDeadLink(ctx, session, { token, next: signUpAgain(ctx) })
  const { email } = link.use
  const { people: words } = wordsOf(ctx)
  const judged: Readonly<Record<string, Judged>> = {
    name: judgeName(sentText(ctx, 'name'), words),
    organization: judgeOrganization(sentText(ctx, 'organization'), words),
    password: judgePassword(sentText(ctx, 'password'), email, words),
  }
  const problems = problemsOf(judged)
  if (Object.keys(problems).length > 0) return showConfirm(ctx, session, { token, email, problems })
  limits.link.take(hashOfToken(token))
  const phc = await work.hash(valueOf(judged, 'password'))
  const account = await accountFor(people, { email, language: languageOf(ctx) }, judged)
  const revision = await writePassword(passwords, account.id, phc, 0)
  await links.consume(token, link.revision)
  if (revision === undefined) return sendDeadLink(ctx, session, { token, next: signUpAgain(ctx) })
  await audit(account.id, 'account_created', ctx, {})
  setKnownBrowser(people, ctx, { email, revision })
  sendNote(ctx, session, {
    title: words.confirm.doneTitle,
    body: html`<p>${fill(words.confirm.done, { email: () => html`<strong>${email}</strong>` })}</p>
<p><a class="button primary" href="/login">${words.signIn.button}</a></p>`,
  })
}

async function accountFor(
  { book, nowMs }: People,
  { email, language }: { readonly email: string; readonly language: Language },
  judged: Readonly<Record<string, Judged>>,
): Promise<Account> {
  const organization = valueOf(judged, 'organization')
  try {
    return await createAccount(book, {
      email,
      name: valueOf(judged, 'name'),
      tier: 'free',
      nowMs: nowMs(),
      isConfirmed: true,
      language,
      ...(organization === '' ? {} : { organization }),
    })
  } catch (error) {
    const account = error instanceof MustAct ? await findAccount(book, email) : undefined
    if (account === undefined) throw error
    return account
  }
}

const problemsOf = (judged: Readonly<Record<string, Judged>>): Problems =>
  Object.fromEntries(
    Object.entries(judged).flatMap(([name, field]) =>
      'problem' in field ? [[name, field.problem]] : [],
    ),
  )

function valueOf(judged: Readonly<Record<string, Judged>>, name: string): string {
  const field = judged[name]
  return field !== undefined && 'value' in field ? field.value : ''
}
