import type { PublicTexts } from '../texts/en/public.ts'
import type { Language } from '../texts/languages.ts'

/** What the script of a language leaves for the pages. */
export type PageTexts = { readonly language: Language; readonly texts: PublicTexts }
