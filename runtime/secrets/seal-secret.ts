/**
 * Webhook secrets at rest: AES-256-GCM under the installation's key. The webhook's id is bound in,
 * so a sealed secret copied into another record does not open.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { MustAct, WrongUsage } from '../exit.ts'

const version = 'v1'
const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

export type SecretBox = {
  /** @param boundTo the webhook's id @returns `v1.<base64url>` */
  readonly seal: (secret: string, boundTo: string) => string
  /** @throws MustAct if it was sealed with another key, for another id, or was changed */
  readonly open: (sealed: string, boundTo: string) => string
  /** Distinguishes keys without revealing anything about them. */
  readonly fingerprint: string
}

/** @param key 64 hex digits or the base 64 of 32 bytes @throws WrongUsage for anything else */
export function secretBox(key: string): SecretBox {
  const bytes = keyBytes(key)
  return {
    seal: (secret, boundTo) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, bytes, nonce, { authTagLength: tagBytes })
      cipher.setAAD(Buffer.from(boundTo))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return `${version}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`
    },
    open: (sealed, boundTo) => {
      const [writtenAs = '', text = ''] = sealed.split('.')
      if (writtenAs !== version)
        throw new MustAct(
          `the secret of ${boundTo} is sealed in a way that this airproof does not know ("${writtenAs.slice(0, 10)}"): use the airproof that sealed it, or a later one (docs/upgrading.md)`,
        )
      const all = Buffer.from(text, 'base64url')
      try {
        const decipher = createDecipheriv(algorithm, bytes, all.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        })
        decipher.setAAD(Buffer.from(boundTo))
        decipher.setAuthTag(all.subarray(nonceBytes, nonceBytes + tagBytes))
        const rest = all.subarray(nonceBytes + tagBytes)
        return decipher.update(rest, undefined, 'utf8') + decipher.final('utf8')
      } catch (cause) {
        throw new MustAct(
          `the secret of ${boundTo} cannot be decrypted: AIRPROOF_SECRET_FILE must name the key that sealed it`,
          { cause },
        )
      }
    },
    fingerprint: createHash('sha256')
      .update('airproof.key.')
      .update(bytes)
      .digest('hex')
      .slice(0, 16),
  }
}

type Keys = {
  /** All keys that are good now, read again when one is missing: two while the key is rotated. */
  readonly read: () => readonly string[]
  /** Fingerprint of the one that seals. */
  readonly sealsWith: () => string | undefined
}

/** Opens what any of the keys sealed, and seals with the one that the instance has agreed on. */
export function rotatingBox({ read, sealsWith }: Keys): SecretBox {
  let boxes = read().map(secretBox)
  const readAgain = (): void => {
    try {
      boxes = read().map(secretBox)
    } catch {
      // the file is gone or damaged: the keys that were in it stay good
    }
  }
  const sealing = (): SecretBox | undefined =>
    boxes.find(({ fingerprint }) => fingerprint === sealsWith())
  const opened = (sealed: string, boundTo: string): string | undefined => {
    for (const box of boxes)
      try {
        return box.open(sealed, boundTo)
      } catch {
        // the next key
      }
    return undefined
  }
  return {
    seal: (secret, boundTo) => {
      if (sealing() === undefined) readAgain()
      const box = sealing()
      if (box === undefined) throw new MustAct(otherKey)
      return box.seal(secret, boundTo)
    },
    open: (sealed, boundTo) => {
      const text = opened(sealed, boundTo)
      if (text !== undefined) return text
      readAgain()
      const [first] = boxes
      if (first === undefined) throw new MustAct(otherKey)
      return opened(sealed, boundTo) ?? first.open(sealed, boundTo)
    },
    get fingerprint() {
      return sealing()?.fingerprint ?? boxes[0]?.fingerprint ?? ''
    },
  }
}

export const otherKey =
  'webhook secrets were sealed with another key: give every process the same AIRPROOF_SECRET_FILE'

export const newSecretKey = (): string => randomBytes(32).toString('hex')

function keyBytes(key: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, 'hex')
  const bytes = Buffer.from(key, 'base64')
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(key) && bytes.length === 32) return bytes
  throw new WrongUsage(
    'AIRPROOF_SECRET_FILE must hold a key of 32 bytes: make one with `openssl rand -hex 32`',
  )
}
