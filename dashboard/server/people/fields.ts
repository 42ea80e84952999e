/** Checks what people type: the value as it is stored, or a sentence of the page's language that names the problem. */
import { onOneLine } from '../../../core/one-line.ts'
import { normaliseEmail } from '../../../operate/account-book.ts'
import { spellPassword } from '../../../operate/password-hash.ts'
import { WrongUsage } from '../../../runtime/exit.ts'
import type { PeopleTexts } from '../../texts/en/people.ts'
import { isCommonPassword } from './common-passwords.ts'

export type Judged = { readonly value: string } | { readonly problem: string }

export const shortestPassword = 8
export const longestPassword = 128
export const passwordHint = (words: PeopleTexts): string =>
  words.passwordHint(shortestPassword, longestPassword)
const longestName = 200

export function judgeEmail(text: string, { problems }: PeopleTexts): Judged {
  if (text.trim() === '') return { problem: problems.noEmail }
  try {
    return { value: normaliseEmail(text) }
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error
    return { problem: problems.badEmail }
  }
}

/** @param email the account's: it, or the part before the @, is not allowed as a password */
export function judgePassword(text: string, email: string, { problems }: PeopleTexts): Judged {
  const spelt = spellPassword(text)
  const { length } = Array.from(spelt)
  if (length < shortestPassword) return { problem: problems.short(shortestPassword) }
  if (length > longestPassword) return { problem: problems.long(longestPassword) }
  const small = spelt.toLowerCase()
  if (small === email || small === email.split('@')[0]) return { problem: problems.likeEmail }
  if (isCommonPassword(small)) return { problem: problems.common }
  return { value: text }
}

export function judgeName(text: string, { problems }: PeopleTexts): Judged {
  const value = onOneLine(text.normalize('NFC'))
  if (value === '') return { problem: problems.noName }
  if (value.length > longestName) return { problem: problems.long(longestName) }
  return { value }
}

export function judgeOrganization(text: string, { problems }: PeopleTexts): Judged {
  const value = onOneLine(text.normalize('NFC'))
  return value.length > longestName ? { problem: problems.long(longestName) } : { value }
}
