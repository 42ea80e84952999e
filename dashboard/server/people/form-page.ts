/**
 * Pages with one form each. They work without JavaScript: problems are in a summary that takes the
 * focus, and again at the field, to which they are tied for screen readers.
 */
import type { Context } from 'koa'
import { cookieLine, csrfOf, newToken, readCookie } from '../cookies.ts'
import { type Html, html } from '../html.ts'
import { type Words, wordsOf } from '../language.ts'
import { sendPage } from '../page.ts'
import type { Session } from '../route.ts'

export type Field = {
  readonly name: string
  readonly label: string
  readonly type: 'email' | 'password' | 'text'
  readonly autocomplete: string
  readonly value?: string
  readonly hint?: string
  readonly isOptional?: boolean
  /** Shown, and known to password managers; its sent value is not read. */
  readonly isFixed?: boolean
}

/** Field → its problem; under '' the problem of the whole form. */
export type Problems = Readonly<Record<string, string>>

export type FormPage = {
  readonly title: string
  readonly intro?: Html
  /** Where the form is sent. */
  readonly action: string
  readonly fields?: readonly Field[]
  /** Hidden fields. */
  readonly hidden?: Readonly<Record<string, string>>
  readonly button: string
  readonly isDangerous?: boolean
  readonly problems?: Problems
  readonly after?: Html
  readonly status?: number
}

export function sendForm(ctx: Context, session: Session | undefined, form: FormPage): void {
  const { title, intro, action, fields = [], hidden = {}, button, after } = form
  const { problems = {}, isDangerous = false } = form
  const isWrong = Object.keys(problems).length > 0
  const { status = isWrong ? 422 : 200 } = form
  const { people } = wordsOf(ctx)
  const unseen = { csrf: csrfFor(ctx, session), ...hidden }
  sendPage(ctx, {
    title: isWrong ? people.problem(title) : title,
    status,
    session,
    body: html`<h1>${title}</h1>
${isWrong && summary(problems, people)}
${intro}
<form class="form" method="post" action="${action}">
${Object.entries(unseen).map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
)}
${fields.map((field) => fieldHtml(field, problems[field.name], people))}
<div class="actions"><button class="${isDangerous ? 'danger' : 'primary'}">${button}</button></div>
</form>
${after}`,
  })
}

/** The token of the next form; without a session a cookie is set that the token is tied to. */
export function csrfFor(ctx: Context, session: Session | undefined): string {
  if (session !== undefined) return session.csrf
  const visit = readCookie(ctx.req, 'visit')
  if (visit !== undefined) return csrfOf(visit)
  const token = newToken()
  ctx.append('set-cookie', cookieLine('visit', token))
  return csrfOf(token)
}

type People = Words['people']

const summary = (
  problems: Problems,
  { didNotWork }: People,
): Html => html`<div class="notice error" role="alert" tabindex="-1" autofocus>
<p><strong>${didNotWork}</strong></p>
<ul>${Object.entries(problems).map(([name, problem]) =>
  name === '' ? html`<li>${problem}</li>` : html`<li><a href="#${name}">${problem}</a></li>`,
)}</ul>
</div>`

function fieldHtml(field: Field, problem: string | undefined, { optional }: People): Html {
  const {
    name,
    label,
    type,
    autocomplete,
    value,
    hint,
    isOptional = false,
    isFixed = false,
  } = field
  const described = [hint && `${name}-hint`, problem && `${name}-error`].filter(Boolean).join(' ')
  return html`<div class="field">
<label for="${name}">${label}${isOptional && html` <span class="hint">${optional}</span>`}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${
    value !== undefined && html` value="${value}"`
  }${isFixed && html` readonly`}${!isOptional && html` required`}${described !== '' && html` aria-describedby="${described}"`}${
    problem !== undefined && html` aria-invalid="true"`
  }>
${hint !== undefined && html`<span class="hint" id="${name}-hint">${hint}</span>`}
${problem !== undefined && html`<span class="error" id="${name}-error">${problem}</span>`}
</div>`
}

/** A page with only a message. */
export function sendNote(
  ctx: Context,
  session: Session | undefined,
  { title, body, status = 200 }: { title: string; body: Html; status?: number },
): void {
  sendPage(ctx, { title, status, session, body: html`<h1>${title}</h1>\n${body}` })
}
