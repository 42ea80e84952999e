/**
 * How a password is stored: argon2id as a PHC string, 19 MiB, two passes, one lane (OWASP's first
 * choice for it). Node's pool does the work off the main thread, so only a few run at once.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(argon2)

const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const
const saltBytes = 16

/**
 * One spelling per password, however a keyboard composed it (RFC 8265, OpaqueString): composed
 * characters, plain spaces for exotic ones; nothing is trimmed and case is kept.
 */
export const spellPassword = (text: string): string =>
  text.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC')

/** @returns `$argon2id$v=19$m=19456,t=2,p=1$salt$tag` */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(saltBytes)
  const tag = await derive('argon2id', { message: spellPassword(password), nonce, ...cost })
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{11,})\$([\w+/]{16,})$/

/** Takes as long whether or not it is right. @returns false also if `stored` is not such a hash */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', tag = ''] = phc.exec(stored) ?? []
  const expected = Buffer.from(tag, 'base64')
  if (expected.length === 0) return false
  const computed = await derive('argon2id', {
    message: spellPassword(password),
    nonce: Buffer.from(salt, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  })
  return timingSafeEqual(computed, expected)
}
