/**
 * What is round every page: the same tabs and the same footer, whether the browser makes the page
 * or the server writes it.
 */
import type { CommonTexts } from './texts/en/common.ts'
import type { Language } from './texts/languages.ts'

/** What the reader is, as far as the bar is concerned. */
export type Reader = 'visitor' | 'user' | 'operator'

type Tab = {
  readonly href: string
  readonly text: Exclude<keyof CommonTexts['tabs'], 'label'>
  /** Paths under which the tab is the present one. */
  readonly under: readonly string[]
  readonly readers: readonly Reader[]
}

const everyone: readonly Reader[] = ['visitor', 'user', 'operator']

const tabs: readonly Tab[] = [
  { href: '/', text: 'city', under: ['/sensors/', '/areas/'], readers: everyone },
  { href: '/proof', text: 'proof', under: ['/proof/'], readers: everyone },
  { href: '/developers', text: 'developers', under: [], readers: everyone },
  {
    href: '/settings/keys',
    text: 'settings',
    under: ['/settings/', '/account'],
    readers: ['user', 'operator'],
  },
  { href: '/operator', text: 'operator', under: ['/operator/'], readers: ['operator'] },
]

export type FrameLink = { readonly href: string; readonly text: string; readonly isHere: boolean }

export const tabsFor = (reader: Reader, path: string, { tabs: words }: CommonTexts): FrameLink[] =>
  tabs
    .filter(({ readers }) => readers.includes(reader))
    .map(({ href, text, under }) => ({
      href,
      text: words[text],
      isHere: path === href || under.some((start) => path.startsWith(start)),
    }))

export type Site = {
  /** Where programs reach it. */
  readonly api: string
  /** Where people reach the operator. */
  readonly contact?: { readonly href: string; readonly text: string } | undefined
  /** Of the data: an SPDX identifier, or words. */
  readonly licence?: string | undefined
  /** Whom those who use the data should name. */
  readonly attribution?: string | undefined
  /** The other server that the map's ground is loaded from; undefined: ours. */
  readonly tilesHost?: string | undefined
  /** Of pages whose reader has not chosen one; undefined: English. */
  readonly language?: Language | undefined
}

/** Of every request (`server/app.ts`). */
export type SiteState = { site: Site }

export const footerLinks = (
  { api, contact }: Site,
  path: string,
  { footer }: CommonTexts,
): FrameLink[] =>
  [
    { href: '/about', text: footer.about },
    { href: '/about/method', text: footer.method },
    { href: '/about/data', text: footer.licence },
    { href: '/about/privacy', text: footer.privacy },
    ...(contact === undefined ? [] : [{ href: contact.href, text: footer.contact }]),
    { href: `${api}/v1/docs`, text: footer.reference },
  ].map((link) => ({ ...link, isHere: link.href === path }))

/** Where the switch of languages leads, and back. */
export const languageLink = (language: string, path: string): string =>
  `/language/${language}?next=${encodeURIComponent(path)}`
