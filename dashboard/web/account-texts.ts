/** The texts of settings and the operator's pages: loaded before those are (`routes.ts`). */
import type { AccountTexts } from '../texts/en/account.ts'
import type { Language } from '../texts/languages.ts'
import { language } from './texts.ts'

const load: Readonly<Record<Language, () => Promise<{ readonly catalogue: AccountTexts }>>> = {
  en: async () => await import('../texts/en/account.ts'),
  fr: async () => await import('../texts/fr/account.ts'),
}

/** Set once, before a module that uses it is loaded. */
export let accountTexts: AccountTexts

let refusals: Readonly<Record<string, string>> = {}

/** Of a refusal by its code; undefined on the public pages, or for a code without a text. */
export const refusalTextOf = (code: string): string | undefined => refusals[code]

export async function loadAccountTexts(): Promise<void> {
  const { catalogue } = await load[language]()
  accountTexts = catalogue
  refusals = catalogue.settings.refusals
}
