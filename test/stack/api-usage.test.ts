import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { dayOf } from '../../core/access/quota.ts'
import { encodeCount, quotaKey } from '../../schemas/people/quota.ts'
import { buckets } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { webhookApi } from '../support/webhook-api.ts'
import { withinOneDay } from '../support/within-one-day.ts'

type Usage = {
  tier: string
  limit: number
  used: number
  remaining: number
  reset: string
  burst: { limit: number; used: number; remaining: number; reset: string }
  days: { date: string; used: number }[]
  keys: { id: string; name: string; hint: string; last_used_at: string | null }[]
}

test('an account sees what it has used, by day and by key, and no other account’s', async () => {
  await using api = await webhookApi({ AIRPROOF_BURST_PREMIUM: '600' })
  const ask = async (key: string, path = '/v1/usage', more: object = {}) => {
    const answer = await api.get(path, { headers: { authorization: `Bearer ${key}`, ...more } })
    return { status: answer.status, body: (await answer.json()) as Usage }
  }
  const kv = await new Kvm(api.nc).open(buckets.quota)
  await withinOneDay(async () => {
    const bob = await api.customer('free')
    const other = await api.newKey({ account: bob.account, name: 'other' })
    const expired = await api.newKey({ account: bob.account, expires_at: '2026-01-01T00:00:00Z' })
    await eventually('the keys are known', async () => (await ask(other.key)).status === 200)
    const dayAgo = (days: number): string => dayOf(Date.now() - days * 86_400_000)
    const count = (used: number): string => encodeCount({ used, minute: 0, inMinute: 0 })
    await kv.put(quotaKey(dayAgo(1), bob.account), count(42))
    await kv.put(quotaKey(dayAgo(29), bob.account), count(7))
    await kv.put(quotaKey(dayAgo(30), bob.account), count(99))
    await kv.put(quotaKey(dayAgo(1), `${bob.account}0`), count(1_000))

    const before = (await ask(bob.key)).body
    await ask(bob.key, '/v1/aqi/scale')
    await ask(bob.key, '/v1/aqi/scale')
    const { body: usage } = await ask(bob.key)
    expect(usage).toMatchObject({ status: 'success', tier: 'free', limit: 100 })
    expect(usage.used).toBe(before.used + 2)
    expect(usage.remaining).toBe(100 - usage.used)
    expect(usage.reset).toBe(`${dayAgo(-1)}T00:00:00.000Z`)
    expect(usage.burst.limit).toBe(600)
    expect(usage.burst.used + usage.burst.remaining).toBe(600)
    expect(usage.burst.used).toBeGreaterThan(0)
    expect(usage.days).toHaveLength(30)
    expect(usage.days.filter(({ used }) => used > 0)).toEqual([
      { date: dayAgo(0), used: usage.used },
      { date: dayAgo(1), used: 42 },
      { date: dayAgo(29), used: 7 },
    ])
    expect(usage.keys.map(({ name }) => name).sort()).toEqual(['other', 'test'])
    expect(JSON.stringify(usage)).not.toContain(expired.key)

    const used = await eventually('the last use of both keys is shown', async () => {
      const { keys } = (await ask(bob.key)).body
      return keys.every(({ last_used_at }) => last_used_at !== null) && keys
    })
    for (const { last_used_at } of used) {
      expect(Math.abs(Date.now() - Date.parse(last_used_at ?? ''))).toBeLessThan(180_000)
    }

    const { key: internal } = await api.newKey({ account: 'dashboard', internal: true })
    const forBob = { 'airproof-account': bob.account }
    await eventually('the dashboard’s key is known', async () => {
      return (await ask(internal, '/v1/usage', forBob)).status === 200
    })
    expect((await ask(internal, '/v1/usage', forBob)).body.days[1]).toEqual({
      date: dayAgo(1),
      used: 42,
    })
    const answer = await api.get('/v1/aqi/scale', {
      headers: { authorization: `Bearer ${internal}` },
    })
    expect(answer.headers.get('ratelimit')).toBeNull()
  })
})
