/**
 * The tokens that a NATS server and the gate exchange: JWTs signed with an account key (ed25519).
 * Signed by Node's own crypto: the library's pure JavaScript takes 300 times as long.
 */
import { createPrivateKey, randomBytes, sign } from 'node:crypto'
import { fromSeed } from '@nats-io/nkeys'
import { issuerTag } from '../../runtime/engines/nats-users.ts'
import { MustAct } from '../../runtime/exit.ts'

export type JwtSigner = {
  /** Public key of the account, `A…`: the server's configuration names it as issuer. */
  readonly issuer: string
  /** @returns the whole token; `iss`, `iat` and `jti` are added */
  readonly sign: (claims: Claims, nowMs: number) => string
}

type Claims = {
  readonly sub: string
  readonly aud: string
  readonly name?: string
  /** Seconds since the epoch. */
  readonly exp?: number
  readonly nats: object
}

/** @param seed of an account key, `SA…` @throws MustAct where it is not one */
export function openJwtSigner(seed: string): JwtSigner {
  const issuer = issuerOf(seed)
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, rawSeedOf(seed)]),
    format: 'der',
    type: 'pkcs8',
  })
  const head = encode({ typ: 'JWT', alg: 'ed25519-nkey' })
  return {
    issuer,
    sign: (claims, nowMs) => {
      const jti = randomBytes(12).toString('base64url')
      const body = encode({ ...claims, iss: issuer, iat: Math.floor(nowMs / 1_000), jti })
      const text = `${head}.${body}`
      return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`
    },
  }
}

/**
 * The signer with the seed that a server was started with. One that names none of them has a
 * configuration of an earlier version, and so the first, which is the oldest.
 * @throws MustAct where the first of them is not a seed
 */
export function openSigners(
  seeds: () => readonly string[],
): (serverTags: readonly string[]) => JwtSigner {
  let known: readonly string[] = []
  let signers: readonly JwtSigner[] = []
  const read = (): readonly JwtSigner[] => {
    const now = seeds()
    if (now === known) return signers
    known = now
    try {
      signers = now.map(openJwtSigner)
    } catch (error) {
      // the file is being written: it is read again when it has changed
      if (signers.length === 0) throw error
    }
    return signers
  }
  const [first] = read()
  if (first === undefined) throw new MustAct(notASeed)
  return (serverTags) => {
    const all = read()
    const named = all.find(({ issuer }) => serverTags.includes(issuerTag(issuer)))
    return named ?? all[0] ?? first
  }
}

/** The claims of a token, not verified: it comes from where only a NATS server can publish. */
export function claimsOf(token: string): unknown {
  const [, body = ''] = token.split('.')
  return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** What precedes the 32 bytes of an ed25519 key in PKCS #8. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

function issuerOf(seed: string): string {
  try {
    const issuer = fromSeed(new TextEncoder().encode(seed)).getPublicKey()
    if (issuer.startsWith('A')) return issuer
  } catch (cause) {
    throw new MustAct(notASeed, { cause })
  }
  throw new MustAct(notASeed)
}

const notASeed =
  'AIRPROOF_CALLOUT_SEED is not the seed of a NATS account key (SA…): `airproof access` makes one'

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Of the decoded seed: two bytes are its type, 32 are the key, two are the checksum. */
function rawSeedOf(seed: string): Buffer {
  const bits = Array.from(seed)
    .map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  const bytes = bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []
  return Buffer.from(bytes.slice(2, 34))
}
