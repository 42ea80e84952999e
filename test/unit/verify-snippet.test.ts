import { stripTypeScriptTypes } from 'node:module'
import { expect, test } from 'vitest'
import { verifySnippet } from '../../dashboard/web/pages/settings/webhooks/verify-snippet.ts'

test('the check that is shown to receivers takes our signature and no other', async () => {
  const code = stripTypeScriptTypes(verifySnippet('TypeScript'))
  const { isFromAirproof } = (await import(
    /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`
  )) as { isFromAirproof: (secret: string, body: Uint8Array, signature: string) => boolean }
  // the vector of docs/webhooks: the key is the secret as it is shown
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = Buffer.from('{"test": 2432232314}')
  const signature = '80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c'
  expect(isFromAirproof(secret, body, signature)).toBe(true)
  expect(isFromAirproof(secret, Buffer.from('{"test": 2432232315}'), signature)).toBe(false)
  expect(isFromAirproof(`${secret}x`, body, signature)).toBe(false)
  expect(isFromAirproof(secret, body, `${signature.slice(0, -1)}d`)).toBe(false)
  for (const other of ['', 'zz', signature.slice(2)])
    expect(isFromAirproof(secret, body, other)).toBe(false)
  expect(verifySnippet('Python')).toContain('compare_digest')
})
