import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { apiErrors } from '../../api/http/api-errors.ts'
import { openApi } from '../../api/openapi/document.ts'
import { documented } from '../../api/openapi/documented.ts'

const whole = JSON.stringify(openApi)
const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')

test('every error has its row in docs/api.md, and the page has no other', () => {
  const rows = Object.entries(apiErrors).map(
    ([code, [status, when]]) => `| ${status} | \`${code}\` | ${when} |`,
  )
  const listed = page.split('\n').filter((line) => /^\| \d{3} \| `\w+` \|/.test(line))
  expect(listed).toEqual(rows)
})

test('every error is in the document, under its status', () => {
  for (const [code, [status]] of Object.entries(apiErrors)) {
    const response = openApi.components.responses[String(status)]
    expect(response?.description).toContain(`\`${code}\``)
    expect(openApi.components.schemas.Error.properties.error.properties.code.description).toContain(
      code,
    )
  }
})

test('everything that the document defines is used in it', () => {
  for (const [kind, parts] of Object.entries(openApi.components)) {
    if (kind === 'securitySchemes') continue
    for (const name of Object.keys(parts)) {
      expect(whole).toContain(`"$ref":"#/components/${kind}/${name}"`)
    }
  }
})

test('every operation has its tag, summary, description and id, which is unique', () => {
  const tags = new Set<string>(openApi.tags.map(({ name }) => name))
  const ids = new Set<string>()
  for (const methods of [...Object.values(openApi.paths), ...Object.values(openApi.webhooks)]) {
    for (const operation of Object.values(methods)) {
      expect(operation.tags.every((tag: string) => tags.has(tag))).toBe(true)
      expect(operation.summary.length).toBeGreaterThan(5)
      expect(operation.description.length).toBeGreaterThan(5)
      expect(ids.has(operation.operationId)).toBe(false)
      ids.add(operation.operationId)
    }
  }
})

test('examples match their schemas', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'document', components: openApi.components })
  let examples = 0
  for (const [name, schema] of Object.entries(openApi.components.schemas)) {
    if (!('examples' in schema)) continue
    for (const example of schema.examples) {
      const fits = ajv.compile({ $ref: `document#/components/schemas/${name}` })
      expect([name, fits(example), fits.errors]).toEqual([name, true, null])
      examples++
    }
  }
  expect(examples).toBeGreaterThan(3)
})

describe('the routes and the document', () => {
  const route = { path: '/v1/nothing', params: [], types: [], answer: () => expect.unreachable() }
  test('differ if a route is not described', () => {
    expect(() => documented([route])).toThrow('GET /v1/nothing')
  })
  test('differ if a described route does not exist', () => {
    expect(() => documented([])).toThrow('PATCH /v1/webhooks/{webhook_id}')
  })
  test('may differ in routes that are part of a page', () => {
    expect(() => documented([{ ...route, isPart: true }])).not.toThrow('/v1/nothing')
  })
})
