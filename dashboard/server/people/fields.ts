/** Checks what people type: the value as it is stored, or a sentence of the page's language that names the problem. */
import { onOneLine } from '../../../core/one-line.ts'
import { normaliseEmail } from '../../../operate/account-book.ts'
import { spellPassword } from '../../../operate/password-hash.ts'
import { WrongUsage } from '../../../runtime/exit.ts'
import type { PeopleTexts } from '../../texts/en/people.ts'

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

/** The passwords that are guessed first, of those that are long enough. Lower case. */
const common = new Set(
  `password password1 password12 password123 passw0rd p@ssw0rd p@ssword 12345678 123456789 1234567890
  0123456789 987654321 9876543210 11111111 111111111 00000000 88888888 12341234 12344321 11223344
  123123123 147258369 87654321 qwertyui qwertyuiop qwerty123 qwerty12 1q2w3e4r 1q2w3e4r5t 1qaz2wsx
  q1w2e3r4 zaq12wsx asdfghjk asdfghjkl zxcvbnm1 zxcvbnm123 abcd1234 abc12345 abcdefgh abcdefghi
  iloveyou iloveyou1 sunshine princess football baseball superman trustno1 starwars whatever
  computer internet welcome1 welcome123 letmein1 letmein123 changeme changeme1 administrator
  admin123 admin1234 administrator1 michael1 jennifer jessica1 nigeria1 nigeria123 lagos123 lagos1234
  airproof airproof1 airproof123 airquality secret123 testtest test1234 testing123 user1234
  dragon123 monkey123 master123 shadow123 football1 chelsea1 liverpool arsenal1 godisgood jesus123
  blessing blessing1 goodluck passpass`.split(/\s+/),
)

/** @param password in lower case */
const isCommonPassword = (password: string): boolean =>
  common.has(password) || /^(.)\1+$/u.test(password)
