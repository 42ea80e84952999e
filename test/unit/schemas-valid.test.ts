import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'

const isSchema = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && ('type' in value || 'oneOf' in value)

/** What a module exports under a name that ends with Schema, and what it has under Schemas. */
async function schemasIn(file: string): Promise<readonly (readonly [string, object])[]> {
  const exported: Readonly<Record<string, unknown>> = await import(resolve(file))
  return Object.entries(exported)
    .filter(([name]) => /Schemas?(V\d+)?$/.test(name))
    .flatMap(([name, value]) =>
      isSchema(value)
        ? [[name, value] as const]
        : Object.entries(Object(value)).flatMap(([key, inner]) =>
            isSchema(inner) ? [[`${name}.${key}`, inner] as const] : [],
          ),
    )
}

test('every schema is a JSON Schema, which no process checks at its start', async () => {
  const ajv = new Ajv()
  const files = globSync('{schemas,operate}/**/*.ts')
  const schemas = (await Promise.all(files.map(schemasIn))).flat()
  expect(schemas.length).toBeGreaterThan(30)
  const wrong = schemas.filter(([, schema]) => !(ajv.validateSchema(schema) as boolean))
  expect(wrong.map(([name]) => name)).toEqual([])
  expect(ajv.validateSchema({ type: 'object', required: 'id' })).toBe(false)
})
