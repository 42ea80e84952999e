import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureDemoAccount } from '../../cli/up/demo-account.ts'
import { apiKeyPrefix, checkKey } from '../../core/access/api-key.ts'
import { dayMs } from '../../core/time.ts'
import {
  type AccountBook,
  changeAccount,
  createAccount,
  createKey,
  emailKey,
  findAccount,
  findKey,
  listAccounts,
  listKeys,
  openAccountBook,
  revokeKey,
} from '../../operate/account-book.ts'
import { MustAct, WrongUsage } from '../../runtime/exit.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { type TestNats, testNats } from '../support/nats.ts'

const nowMs = Date.UTC(2026, 0, 31, 12)

let nats: TestNats
let nc: NatsConnection
let book: AccountBook

beforeAll(async () => {
  nats = await testNats()
  nc = await nats.connect()
  await ensureStreams(nc)
  book = await openAccountBook(nc)
})
afterAll(async () => {
  await nc.close()
  await nats[Symbol.asyncDispose]()
})

const create = (email: string) =>
  createAccount(book, { email, name: 'Somebody', tier: 'free', nowMs })

describe('accounts', () => {
  it('gives an address one account, however the address is typed', async () => {
    const account = await create('Ade.Obí@Example.org')
    expect(account).toMatchObject({ email: 'ade.obí@example.org', tier: 'free', role: 'user' })
    // the same letters, decomposed
    await expect(create('ADE.OBI\u0301@example.ORG ')).rejects.toThrow(MustAct)
    expect(await findAccount(book, 'ade.obí@EXAMPLE.org')).toEqual(account)
    expect(await findAccount(book, account.id)).toEqual(account)
  })

  it('makes one account of many that are created at once for the same address', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, () => create('race@example.org')),
    )
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const racers = (await listAccounts(book)).filter(({ email }) => email === 'race@example.org')
    expect(racers).toHaveLength(1)
  })

  it('finishes an account whose maker was killed between the address and the account', async () => {
    await book.emails.create(emailKey('half@example.org'), JSON.stringify('acc_half'))
    expect(await create('half@example.org')).toMatchObject({ id: 'acc_half' })
  })

  it('refuses what is not an address', async () => {
    for (const text of ['', 'nobody', 'a b@c', '@c', 'a@', `${'x'.repeat(250)}@y.org`])
      await expect(create(text)).rejects.toThrow(WrongUsage)
  })

  it('changes tier and role of an account by its address, and reports where there is none', async () => {
    await create('tier@example.org')
    await changeAccount(book, 'Tier@example.org', { tier: 'premium' })
    await changeAccount(book, 'tier@example.org', { role: 'operator' })
    expect(await findAccount(book, 'tier@example.org')).toMatchObject({
      tier: 'premium',
      role: 'operator',
    })
    await expect(changeAccount(book, 'nobody@example.org', { tier: 'free' })).rejects.toThrow(
      /no account nobody@example.org/,
    )
  })
})

describe('keys', () => {
  it('stores a hash and never the key, for exactly 90 days', async () => {
    const { key, record } = await createKey(book, { account: 'acc_1', name: 'one', nowMs })
    expect(checkKey(apiKeyPrefix, key)).toBe('ok')
    expect(await findKey(book, key)).toEqual(record)
    expect(Date.parse(record.expires_at) - Date.parse(record.created_at)).toBe(90 * dayMs)
    expect(key.startsWith(record.hint)).toBe(true)
    expect(JSON.stringify(await listKeys(book))).not.toContain(key)
  })

  it('revokes by the public id or the key itself, permanently', async () => {
    const one = await createKey(book, { account: 'acc_2', name: 'one', nowMs })
    const two = await createKey(book, { account: 'acc_2', name: 'two', nowMs })
    await revokeKey(book, one.record.id, nowMs + 1_000)
    await revokeKey(book, one.record.id, nowMs + 9_000)
    await revokeKey(book, two.key, nowMs + 2_000)
    expect((await findKey(book, one.key))?.revoked_at).toBe('2026-01-31T12:00:01Z')
    expect((await findKey(book, two.key))?.revoked_at).toBe('2026-01-31T12:00:02Z')
    expect((await listKeys(book, 'acc_2')).map(({ name }) => name).toSorted()).toEqual([
      'one',
      'two',
    ])
    await expect(revokeKey(book, 'key_none', nowMs)).rejects.toThrow(MustAct)
  })
})

describe('the demonstration account', () => {
  it('stays the same from start to start, and its key is renewed a week before it ends', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'airproof-demo-'))
    try {
      const first = await ensureDemoAccount(nc, folder, nowMs)
      expect(await findAccount(book, first.account.email)).toMatchObject({ tier: 'premium' })
      expect(statSync(join(folder, 'demo.json')).mode & 0o777).toBe(0o600)
      expect(JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'))).toEqual(first)

      expect(await ensureDemoAccount(nc, folder, nowMs + 83 * dayMs)).toEqual(first)
      const renewed = await ensureDemoAccount(nc, folder, nowMs + 83 * dayMs + 1)
      expect(renewed.account).toEqual(first.account)
      expect(renewed.key).not.toBe(first.key)
      expect(await ensureDemoAccount(nc, folder, nowMs + 84 * dayMs)).toEqual(renewed)

      await revokeKey(book, renewed.key, nowMs)
      const other = await ensureDemoAccount(nc, folder, nowMs + 84 * dayMs)
      expect(other.key).not.toBe(renewed.key)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('is recovered where its file is lost or damaged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'airproof-demo-'))
    try {
      writeFileSync(join(folder, 'demo.json'), '{"account": {"ema')
      const again = await ensureDemoAccount(nc, folder, nowMs)
      expect(await findKey(book, again.key)).toBeDefined()
      const demos = (await listAccounts(book)).filter(({ email }) => email === again.account.email)
      expect(demos).toHaveLength(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
