/**
 * The texts of the public pages. The server writes one script of texts into the page, in the
 * reader's language and before all others (`server/web-files.ts`), so every module has them from
 * its first line, and only one language is loaded.
 */

import type { PublicTexts } from '../texts/en/public.ts'
import { formatsOf } from '../texts/format.ts'
import type { Language } from '../texts/languages.ts'

/** What the script of a language leaves for the pages. */
type PageTexts = { readonly language: Language; readonly texts: PublicTexts }

declare global {
  // a property of the global object, which only `var` declares
  var airproofTexts: PageTexts | undefined
}

const given = globalThis.airproofTexts
if (given === undefined) throw new Error('the page lacks its texts: load it again')

export const { language, texts } = given
export const format = formatsOf(language)
