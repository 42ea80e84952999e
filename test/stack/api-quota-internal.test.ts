import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { webhookApi } from '../support/webhook-api.ts'

test('the dashboard’s key sees an account’s webhooks; with any other key the header does nothing', async () => {
  await using api = await webhookApi()
  const bob = await api.customer()
  const eve = await api.customer()
  const { key: internal } = await api.newKey({ account: 'dashboard', internal: true })
  const { id } = await bob.create()
  const listAs = async (key: string, account: string) => {
    const headers = { authorization: `Bearer ${key}`, 'airproof-account': account }
    const answer = await api.get('/v1/webhooks', { headers })
    const body = (await answer.json()) as { webhooks?: { id: string }[]; error?: { code: string } }
    return { status: answer.status, ids: body.webhooks?.map((one) => one.id), ...body.error }
  }
  await eventually('the key is known', async () => {
    return (await listAs(internal, bob.account)).status === 200
  })
  expect((await listAs(internal, bob.account)).ids).toEqual([id])
  expect((await listAs(internal, eve.account)).ids).toEqual([])
  expect(await listAs(internal, 'acc_nobody')).toMatchObject({
    status: 401,
    code: 'unknown_account',
  })
  expect((await listAs(eve.key, bob.account)).ids).toEqual([])
})
