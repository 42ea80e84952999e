/** Checks what people type: the value as it is stored, or a sentence that names the problem. */
import { onOneLine } from '../../../core/one-line.ts'
import { normaliseEmail } from '../../../operate/account-book.ts'
import { spellPassword } from '../../../operate/password-hash.ts'
import { WrongUsage } from '../../../runtime/exit.ts'
import { isCommonPassword } from './common-passwords.ts'

export type Judged = { readonly value: string } | { readonly problem: string }

export const shortestPassword = 8
export const longestPassword = 128
export const passwordHint = `${shortestPassword} to ${longestPassword} characters. A few random words make a good password.`
const longestName = 200

export function judgeEmail(text: string): Judged {
  if (text.trim() === '') return { problem: 'Enter an email address' }
  try {
    return { value: normaliseEmail(text) }
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error
    return { problem: 'Enter an email address like ada@example.org' }
  }
}

/** @param email the account's: it, or the part before the @, is not allowed as a password */
export function judgePassword(text: string, email = ''): Judged {
  const spelt = spellPassword(text)
  const { length } = Array.from(spelt)
  if (length < shortestPassword) return { problem: `Use at least ${shortestPassword} characters` }
  if (length > longestPassword) return { problem: `Use at most ${longestPassword} characters` }
  const small = spelt.toLowerCase()
  if (small === email || small === email.split('@')[0])
    return { problem: 'Use something other than your email address' }
  if (isCommonPassword(small)) return { problem: 'This password is too common: choose another one' }
  return { value: text }
}

export function judgeName(text: string): Judged {
  const value = onOneLine(text.normalize('NFC'))
  if (value === '') return { problem: 'Enter your full name' }
  if (value.length > longestName) return { problem: `Use at most ${longestName} characters` }
  return { value }
}

export function judgeOrganization(text: string): Judged {
  const value = onOneLine(text.normalize('NFC'))
  return value.length > longestName
    ? { problem: `Use at most ${longestName} characters` }
    : { value }
}
