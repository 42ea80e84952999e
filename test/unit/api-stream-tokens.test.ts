import { expect, test } from 'vitest'
import { createKeyGuard, type KnownKey } from '../../api/access/key-guard.ts'
import { streamTokens } from '../../api/access/stream-tokens.ts'
import { newSecretKey, secretBox } from '../../runtime/secrets/seal-secret.ts'

const box = secretBox(newSecretKey())
const keyHash = 'ab'.repeat(32)
const clock = { nowMs: 1_000_000 }
const tokens = (of = box) => streamTokens({ box: async () => of, nowMs: () => clock.nowMs })
const refused = expect.objectContaining({ status: 401, code: 'invalid_token' })

test('a token is its key for sixty seconds, in every process of the installation', async () => {
  clock.nowMs = 1_000_000
  const { token, expiresMs } = await tokens().make(keyHash)
  expect(expiresMs).toBe(1_060_000)
  expect(token).toMatch(/^aqs_[\w.-]{100,200}$/)
  expect(token).not.toContain(keyHash)
  expect(await tokens().open(token)).toBe(keyHash)
  clock.nowMs = 1_059_999
  expect(await tokens().open(token)).toBe(keyHash)
  clock.nowMs = 1_060_000
  await expect(tokens().open(token)).rejects.toEqual(refused)
})

test('nothing else passes as a token', async () => {
  clock.nowMs = 1_000_000
  const { token } = await tokens().make(keyHash)
  const middle = Math.floor(token.length / 2)
  const others = [
    '',
    'aqs_',
    'aqs_v1.',
    token.slice(0, -1),
    `${token.slice(0, middle)}${token[middle] === 'A' ? 'B' : 'A'}${token.slice(middle + 1)}`,
    token.replace('aqs_', 'aqk_'),
    `${token}${'A'.repeat(1_000)}`,
    // of another installation, and what the same key sealed for something else
    (await tokens(secretBox(newSecretKey())).make(keyHash)).token,
    `aqs_${box.seal(`1060000.${keyHash}`, 'wh_0000001')}`,
    `aqs_${box.seal(keyHash, 'stream token')}`,
    `aqs_${box.seal(`1060000.${keyHash}.more`, 'stream token')}`,
  ]
  for (const other of others)
    expect([
      other,
      await tokens()
        .open(other)
        .catch((error: unknown) => error),
    ]).toEqual([other, refused])
})

test('what its key may not do it may not do, and it is never the dashboard’s own', () => {
  const known: KnownKey = {
    id: 'k',
    account: 'a',
    name: '',
    hint: '',
    expiresMs: 2_000_000,
    isRevoked: false,
    isInternal: false,
  }
  const guardOf = (key: KnownKey | undefined, { has = true, stale = 0 } = {}) =>
    createKeyGuard({
      find: () => key,
      hasAccount: () => has,
      staleMs: () => stale,
      nowMs: () => clock.nowMs,
    })
  // a page's own headers do not count beside it
  const headers = { 'airproof-account': 'b' }
  expect(guardOf(known)(headers, keyHash)).toMatchObject({
    account: 'a',
    keyHash,
    isVisitor: false,
  })
  const codes = [
    [guardOf({ ...known, isRevoked: true }), 'revoked_key'],
    [guardOf({ ...known, expiresMs: 1 }), 'expired_key'],
    [guardOf(known, { has: false }), 'unknown_account'],
    [guardOf(known, { stale: 60_000 }), 'keys_unknown'],
    [guardOf({ ...known, isInternal: true }), 'invalid_token'],
    [guardOf(undefined), 'invalid_token'],
  ] as const
  for (const [guard, code] of codes)
    expect(() => guard(headers, keyHash)).toThrow(expect.objectContaining({ code }))
})
