/**
 * The language of a request: the reader's own choice (cookie `lang`), else what the browser asks
 * for, else the network's. The cookie is a preference and no secret, so it is a plain one.
 */
import type { Context } from 'koa'
import { type AccountBook, changeAccount } from '../../operate/account-book.ts'
import type { Account } from '../../schemas/people/account.ts'
import type { SiteState } from '../frame.ts'
import { catalogue as en, type ServerTexts } from '../texts/en/server.ts'
import { type Formats, formatsOf } from '../texts/format.ts'
import { catalogue as fr } from '../texts/fr/server.ts'
import { asLanguage, type Language, languages } from '../texts/languages.ts'
import { Refusal } from './refusal.ts'
import type { DashboardRoute } from './route.ts'
import { safePath, seeOther } from './see-other.ts'

const cookieName = 'lang'
const aYearSeconds = 31_536_000

export function languageOf(ctx: Context): Language {
  const wanted = new RegExp(`(?:^|;)\\s*${cookieName}=(\\w+)`).exec(ctx.get('cookie'))?.[1]
  const usual = (ctx.state as SiteState).site.language ?? 'en'
  // a browser that asks for none accepts the first
  const offered = [usual, ...languages.filter((language) => language !== usual)]
  return asLanguage(wanted) ?? asLanguage(String(ctx.acceptsLanguages(...offered))) ?? usual
}

export type Words = ServerTexts & { readonly format: Formats }

const words: Readonly<Record<Language, Words>> = {
  en: { ...en, format: formatsOf('en') },
  fr: { ...fr, format: formatsOf('fr') },
}

/** The texts that the server writes, in a language. */
export const wordsIn = (language: Language): Words => words[language]

/** The same, in the language of the request. */
export const wordsOf = (ctx: Context): Words => wordsIn(languageOf(ctx))

/**
 * Chooses the language of this browser, and where the person is signed in and the link is on one of
 * our own pages also that of their emails. A link is enough: it changes nothing else.
 * @param keep with the account
 */
export const chooseLanguage = (
  keep: (account: Account, language: Language) => Promise<void>,
): DashboardRoute => ({
  method: 'GET',
  path: '/language/:language',
  needs: 'none',
  handle: async (ctx, session) => {
    const names: Readonly<Record<string, string>> = ctx['params']
    const language = asLanguage(names['language'])
    if (language === undefined)
      throw new Refusal(404, 'not_found', `the languages are ${languages.join(', ')}`)
    ctx.append(
      'set-cookie',
      `${cookieName}=${language}; Path=/; SameSite=Lax; Max-Age=${aYearSeconds}`,
    )
    if (session !== undefined && ctx.get('sec-fetch-site') === 'same-origin')
      await keep(session.account, language)
    seeOther(ctx, safePath(String(ctx.query['next'] ?? '/')))
  },
})

/** An account without a language gets emails in the network's, which may change. */
export const keepLanguage =
  (book: AccountBook) =>
  async ({ id, language: former }: Account, language: Language): Promise<void> => {
    if (former !== language) await changeAccount(book, id, { language })
  }
