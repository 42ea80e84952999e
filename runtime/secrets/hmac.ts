import { createHmac } from 'node:crypto'
import type { Hmac } from '../../core/delivery/signature.ts'

export const hmacSha256: Hmac = ({ key, keyEncoding, parts, encoding }) => {
  const hmac = createHmac('sha256', Buffer.from(key, keyEncoding))
  for (const part of parts) hmac.update(part)
  return hmac.digest(encoding)
}
