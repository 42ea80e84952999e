/**
 * Three cookies, all `__Host-`: only this very origin sets them, and no script reads them.
 * `session` names the signed-in account; `visit` ties a visitor's forms to their browser; `known`
 * holds which accounts have signed in from this browser before (`people/known-browser.ts`).
 */
import { hash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { dayMs, secondMs } from '../../core/time.ts'

export type CookieName = 'session' | 'visit' | 'known'

const tokenPattern = /^[\w-]{43}$/

/** Whether a text has the form of such a token. */
export const isToken = (text: string): boolean => tokenPattern.test(text)

/** 256 random bits, as cookies and links carry them. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** What is stored of a token: a reader of our data cannot sign in with it. */
export const hashOfToken = (token: string): string => hash('sha256', token)

export function readCookie(
  request: IncomingMessage,
  name: 'session' | 'visit',
): string | undefined {
  const token = cookieText(request, name)
  return token !== undefined && isToken(token) ? token : undefined
}

/** As it was sent, whatever it is. */
export function cookieText(request: IncomingMessage, name: CookieName): string | undefined {
  const wanted = `__Host-${name}=`
  const part = (request.headers.cookie ?? '')
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(wanted))
  return part?.slice(wanted.length)
}

export const cookieLifeMs = { session: 30 * dayMs, visit: dayMs, known: 180 * dayMs } as const

/** The line of `Set-Cookie`. @param token undefined: the cookie is deleted */
export const cookieLine = (name: CookieName, token: string | undefined): string =>
  `__Host-${name}=${token ?? ''}; Path=/; Secure; HttpOnly; SameSite=Lax; ` +
  `Max-Age=${token === undefined ? 0 : cookieLifeMs[name] / secondMs}`

/**
 * What a form or script must send back: it follows from the cookie, which another site neither
 * reads nor sets.
 */
export const csrfOf = (token: string): string =>
  hash('sha256', `airproof.csrf.${token}`, 'base64url')
