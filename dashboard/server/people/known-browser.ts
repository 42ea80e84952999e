/**
 * Browsers that a person has signed in from before. Each has an encrypted cookie, and its tries are
 * counted apart from those of strangers: guessing at an address from elsewhere never keeps its
 * owner out. A mark is valid for one password: the next password makes it void.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { emailKey } from '../../../operate/account-book.ts'
import type { SecretBox } from '../../../runtime/secrets/seal-secret.ts'
import { cookieLifeMs, cookieLine, cookieText } from '../cookies.ts'

export type BrowserMark = {
  /** Tries are counted under it. */
  readonly id: string
  readonly revision: number
}

export type KnownBrowsers = {
  /** From the cookie only. @param email normalised */
  readonly find: (request: IncomingMessage, email: string) => BrowserMark | undefined
  /**
   * The cookie that makes the browser known to this address, in addition to others.
   * @param revision of the password, as the store has it
   */
  readonly line: (request: IncomingMessage, mark: { email: string; revision: number }) => string
}

/** What is in the cookie for each address. */
type Kept = BrowserMark & { readonly email: string; readonly untilMs: number }

/** Addresses of one browser; beyond it, the one that signed in longest ago is dropped. */
const mostAddresses = 4
/** What an encrypted cookie is bound to. */
const sealedMarks = 'known-browser'

export function openKnownBrowsers(box: SecretBox, nowMs: () => number): KnownBrowsers {
  const read = (request: IncomingMessage): readonly Kept[] => {
    const text = cookieText(request, 'known')
    if (text === undefined) return []
    try {
      // encrypted only by this file, so taken as it is
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const marks = JSON.parse(box.open(text, sealedMarks)) as readonly Kept[]
      return marks.filter(({ untilMs }) => nowMs() < untilMs)
    } catch {
      return []
    }
  }
  return {
    find: (request, email) => {
      const key = emailKey(email)
      return read(request).find((mark) => mark.email === key)
    },
    line: (request, { email, revision }) => {
      const key = emailKey(email)
      const id = randomBytes(16).toString('base64url')
      const mark: Kept = { id, revision, email: key, untilMs: nowMs() + cookieLifeMs.known }
      const others = read(request).filter((mark) => mark.email !== key)
      const marks = [mark, ...others].slice(0, mostAddresses)
      return cookieLine('known', box.seal(JSON.stringify(marks), sealedMarks))
    },
  }
}
