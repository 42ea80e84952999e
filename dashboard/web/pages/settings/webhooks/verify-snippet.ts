import type { Language } from '../../../parts/snippet.ts'

/** The check of a delivery's signature, in the receiver's language. */
export function verifySnippet(language: Exclude<Language, 'curl'>): string {
  switch (language) {
    case 'TypeScript':
      return `import { createHmac, timingSafeEqual } from 'node:crypto'

// secret: as shown, whsec_ and all; body: the raw bytes, before parsing
export function isFromAirproof(secret: string, body: Uint8Array, signature: string): boolean {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(signature, 'hex') // header X-Service-Signature
  return given.length === expected.length && timingSafeEqual(given, expected)
}`
    case 'Python':
      return `import hashlib, hmac

# secret: as shown, whsec_ and all; body: the raw bytes, before parsing
def is_from_airproof(secret: str, body: bytes, signature: str) -> bool:
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)  # header X-Service-Signature`
  }
}
