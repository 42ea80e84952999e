import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadName } from '../../api/openapi/webhook-schemas.ts'
import { payloadSchemas } from '../../schemas/webhooks/webhook-payload.ts'
import {
  type Customer,
  exampleAttempt,
  standInOwner,
  type WebhookApi,
  wanted,
  webhookApi,
} from '../support/webhook-api.ts'

type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<
    Record<
      string,
      { readonly content: { readonly 'application/json': { readonly schema: object } } }
    >
  >
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, unknown>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

let api: WebhookApi
let ada: Customer
let document: Document
beforeAll(async () => {
  api = await webhookApi()
  ada = await api.customer()
  document = (await (await fetch(`${api.url}/v1/openapi.json`)).json()) as Document
})
afterAll(() => api[Symbol.asyncDispose]())

const operations = (): readonly (readonly [method: string, path: string, operation: Operation])[] =>
  Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/v1/webhooks'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) =>
          [method.toUpperCase(), path.slice('/v1/webhooks'.length), operation] as const,
      ),
    )

test('the document names every address of webhooks, its methods and its parameters', async () => {
  const { id } = await ada.create()
  const named = Map.groupBy(operations(), ([, path]) => path)
  expect(named.size).toBe(10)
  for (const [path, methods] of named) {
    const address = path.replace('{webhook_id}', id).replace('{delivery_id}', 'msg_none')
    const { status, headers } = await ada.say('PUT', address)
    const allowed = methods.flatMap(([method]) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    expect([path, status, headers.get('allow')]).toEqual([path, 405, allowed.join(', ')])
    for (const [method, , { parameters = [] }] of methods) {
      const { body } = await ada.say(method, `${address}?no_such=1`)
      const known = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
      expect([method, path, body.error.details.known]).toEqual([method, path, known])
    }
  }
})

test('answers match the document', async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'document', components: document.components })
  const { id } = await ada.create()
  await api.logAttempt(id, { response: null, outcome: 'retry', error: 'timeout' })
  await api.logAttempt(id, { attempt: 2 })
  using _ = await standInOwner(api, id, (request) => {
    switch (request.op) {
      case 'list':
        return {
          ok: true,
          op: 'list',
          total: 1,
          is_behind: false,
          deliveries: [
            {
              delivery: 'msg_w',
              key: 'aqi.high-77-150',
              event: 'aqi.high',
              trigger: 'event',
              state: request.state,
              attempts: 2,
              due_at: null,
            },
          ],
        }
      case 'replay':
        return { ok: true, op: 'replay', delivery: 'msg_w' }
      case 'recover':
        return { ok: true, op: 'recover' }
      case 'test':
        return { ok: true, op: 'test', attempt: exampleAttempt }
    }
  })
  const bodies: Readonly<Record<string, object>> = {
    createWebhook: wanted,
    changeWebhook: { description: 'x' },
    recoverWebhook: { since: '2026-01-31T08:00:00Z' },
  }
  // deletions come last
  const ordered = operations().toSorted(
    (a, b) => Number(a[0] === 'DELETE') - Number(b[0] === 'DELETE'),
  )
  for (const [method, path, operation] of ordered) {
    const address = path.replace('{webhook_id}', id).replace('{delivery_id}', 'msg_example')
    const name = 'operationId' in operation ? String(operation.operationId) : ''
    for (const query of name === 'listDeliveries' ? ['', '?state=dead'] : ['']) {
      const { status, body } = await ada.say(method, `${address}${query}`, bodies[name])
      const schema = operation.responses[String(status)]?.content['application/json'].schema
      expect([name, status < 300, schema !== undefined]).toEqual([name, true, true])
      const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components')
      const fits = ajv.compile(JSON.parse(text))
      expect([name, fits(body), fits.errors]).toEqual([name, true, null])
    }
  }
  const failed = await ada.say('GET', '/wh_0000000')
  const fits = ajv.compile({ $ref: 'document#/components/schemas/Error' })
  expect([fits(failed.body), failed.status]).toEqual([true, 404])
})

test('the bodies that webhooks receive are published, each with its schema', async () => {
  expect(Object.keys(document.webhooks).toSorted()).toEqual(Object.keys(payloadSchemas).toSorted())
  const { schemas } = document.components
  for (const [kind, schema] of Object.entries(payloadSchemas)) {
    // as parts of this document they have neither their own dialect nor an identifier
    const { $schema: _, $id: __, ...published } = schema
    expect(JSON.stringify(document.webhooks[kind])).toContain(payloadName(kind))
    expect(schemas[payloadName(kind)]).toEqual(published)
  }
  const page = await (await fetch(`${api.url}/v1/docs`)).text()
  expect(page).toContain('<code>POST /v1/webhooks/{webhook_id}/rotate</code>')
  expect(page).toContain('<code>GET /v1/sensors</code>')
})
