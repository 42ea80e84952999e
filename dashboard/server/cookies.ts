/**
 * Two cookies, both `__Host-`: only this very origin sets them, and no script reads them. `session`
 * is whoever is signed in; `visit` ties the forms of somebody who is not to their browser.
 */
import { hash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { dayMs, secondMs } from '../../core/time.ts'

export type CookieName = 'session' | 'visit'

const tokenPattern = /^[\w-]{43}$/

/** 256 random bits, as cookies and links carry them. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** What is kept of a token: whoever reads our data cannot sign in with it. */
export const hashOfToken = (token: string): string => hash('sha256', token)

export function readCookie(request: IncomingMessage, name: CookieName): string | undefined {
  const wanted = `__Host-${name}=`
  const part = (request.headers.cookie ?? '')
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(wanted))
  const token = part?.slice(wanted.length)
  return token !== undefined && tokenPattern.test(token) ? token : undefined
}

const lifeSeconds = { session: (30 * dayMs) / secondMs, visit: dayMs / secondMs }

/** The line of `Set-Cookie`. @param token undefined: the cookie goes */
export const cookieLine = (name: CookieName, token: string | undefined): string =>
  `__Host-${name}=${token ?? ''}; Path=/; Secure; HttpOnly; SameSite=Lax; ` +
  `Max-Age=${token === undefined ? 0 : lifeSeconds[name]}`

/**
 * What a form or script must send back: it follows from the cookie, which another site neither
 * reads nor sets.
 */
export const csrfOf = (token: string): string =>
  hash('sha256', `airproof.csrf.${token}`, 'base64url')
