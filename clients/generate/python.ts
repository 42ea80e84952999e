/**
 * The Python client's types and operations, from the OpenAPI document: answers are typed dicts, so
 * that a page of 1,000 readings costs nothing but its JSON.
 */
import { pythonTypes } from './python-types.ts'
import type { OpenApi, Operation, Parameter, Schema } from './shape.ts'

/** Parameters that the iterators over pages fill in themselves, or that ask for another item. */
const ofOnePage = new Set(['cursor', 'limit', 'shape', 'fields'])
/** The client always asks for JSON. */
const ofOtherMedia = new Set(['format'])

type Call = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly operation: Operation
  readonly answer: Schema
}

/** @returns the text of `airproof/_generated.py` */
export function pythonClient({ components, paths }: OpenApi): string {
  const types = pythonTypes(components.schemas)
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]): Call[] => {
      const answer = jsonOf(operation)
      if (answer === undefined) return []
      const name = snake(operation.operationId)
      return [{ name, method: method.toUpperCase(), path, operation, answer }]
    }),
  )
  const queries = calls.flatMap((call) => queryTypes(call, types.typeOf))
  const made = (kind: Kind): string =>
    calls.flatMap((call) => methods(call, kind, types, components.schemas)).join('\n')
  const operations = [made(kinds.sync), made(kinds.async)]
  return `${madeBy}
from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, Required, TypeAlias, TypedDict, Unpack

from ._call import AsyncCaller, AsyncPages, Call, Caller, Pages

Time: TypeAlias = 'str | datetime'
"""ISO 8601, or a datetime; without an offset it is UTC."""

${types.declared().join('\n')}
${queries.join('\n')}

class Operations(Caller):
    """Every operation of /v1."""

${operations[0]}

class AsyncOperations(AsyncCaller):
    """Every operation of /v1, to be awaited."""

${operations[1]}`
}

/** @returns the text of `airproof/_times.py`: apart, for what `_generated.py` imports needs it */
export const pythonTimes = ({ components }: OpenApi): string => `${madeBy}

TIMES = frozenset({
${[...timeNames(components.schemas)].map((name) => `    ${quoted(name)},\n`).join('')}})
"""The fields of answers that are times."""
`

const madeBy = '"""Made by `npm run clients` from the OpenAPI document: do not edit it."""'

type Kind = { readonly def: string; readonly wait: string; readonly pages: string }
const kinds = {
  sync: { def: 'def', wait: '', pages: 'Pages' },
  async: { def: 'async def', wait: 'await ', pages: 'AsyncPages' },
} as const

function methods(
  { name, method, path, operation, answer }: Call,
  kind: Kind,
  { typeOf }: ReturnType<typeof pythonTypes>,
  schemas: Readonly<Record<string, Schema>>,
): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, inPath = '']) => inPath)
  const body = operation.requestBody
  const bodyType = body && typeOf(body.content['application/json'].schema, '')
  const bodyGiven = body && `body: ${bodyType}${body.required ? '' : ' | None = None'}`
  const named = ['self', ...names.map((one) => `${one}: str`)]
  const target = [quoted(method), quoted(path.replaceAll(/\{\w+\}/g, '{}'))]
  const filled = names.length === 0 ? '()' : `(${names.join(', ')},)`
  const query = queryOf(operation)
  const taken = (type: string): string[] => (query.length === 0 ? [] : [`**query: Unpack[${type}]`])
  const given = [...target, filled, ...(query.length === 0 ? [] : ['query'])]
  const headers = query.filter((one) => one.in === 'header').map((one) => quoted(snake(one.name)))
  if (headers.length > 0) given.push(`headers=(${headers.join(', ')},)`)
  if (body) given.push('body=body')
  const takes = [...named, ...(bodyGiven ? [bodyGiven] : []), ...taken(`${pascal(name)}Query`)]
  const lines = [
    `    ${kind.def} ${name}(${takes.join(', ')}) -> ${typeOf(answer, `${pascal(name)}Answer`)}:`,
    documentation(operation, 8),
    `        return ${kind.wait}self._do(Call(${given.join(', ')}))`,
    '',
  ]
  const paged = pagedItems(operation, answer, schemas)
  if (paged === undefined) return lines
  const several = severalOf(name)
  const item = typeOf(paged.item, '')
  return [
    ...lines,
    `    def ${several}(${[...named, ...taken(`${pascal(several)}Query`)].join(', ')}) -> ${kind.pages}[${item}]:`,
    `        """All pages of \`${name}\`, one item after the other."""`,
    `        return ${kind.pages}(self, Call(${given.join(', ')}), ${quoted(paged.field)})`,
    '',
  ]
}

/** The list in a page, and what its items are, if the operation has pages. */
function pagedItems(
  { parameters = [] }: Operation,
  answer: Schema,
  schemas: Readonly<Record<string, Schema>>,
): { readonly field: string; readonly item: Schema } | undefined {
  if (!parameters.some(({ name }) => name === 'cursor')) return undefined
  const [first = answer] = answer.anyOf ?? []
  const page = first.$ref === undefined ? first : schemas[nameIn(first.$ref)]
  for (const [field, { type, items }] of Object.entries(page?.properties ?? {})) {
    if (type === 'array' && items !== undefined) return { field, item: items }
  }
  return undefined
}

const queryOf = ({ parameters = [] }: Operation): readonly Parameter[] =>
  parameters.filter((one) => one.in !== 'path' && !ofOtherMedia.has(one.name))

function queryTypes(
  { name, operation }: Call,
  typeOf: (schema: Schema, name: string) => string,
): string[] {
  const query = queryOf(operation)
  if (query.length === 0) return []
  const fields = (given: readonly Parameter[]): string[] =>
    given.flatMap((one) => {
      const type = typeOfGiven(one, typeOf)
      const wanted = one.required ? `Required[${type}]` : type
      return [`    ${snake(one.name)}: ${wanted}`, documentation({ summary: one.description }, 4)]
    })
  const isPaged = query.some((one) => one.name === 'cursor')
  const own = isPaged ? query.filter((one) => ofOnePage.has(one.name)) : query
  const shared = query.filter((one) => !own.includes(one))
  const several = `${pascal(severalOf(name))}Query`
  const typed = (type: string, base: string, given: readonly Parameter[]): string[] => [
    `class ${type}(${base}, total=False):`,
    ...(given.length === 0 ? ['    pass'] : fields(given)),
    '\n',
  ]
  if (!isPaged) return typed(`${pascal(name)}Query`, 'TypedDict', own)
  return [...typed(several, 'TypedDict', shared), ...typed(`${pascal(name)}Query`, several, own)]
}

const typeOfGiven = (
  { schema }: Parameter,
  typeOf: (schema: Schema, name: string) => string,
): string => (schema.format === 'date-time' ? 'Time' : typeOf(schema, ''))

const jsonOf = ({ responses }: Operation): Schema | undefined =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content?.[
    'application/json'
  ]?.schema

/** Every field that is a time, wherever it is. */
function timeNames(schemas: Readonly<Record<string, Schema>>): Set<string> {
  const names = new Set<string>()
  const visit = ({ properties = {}, items, oneOf = [], anyOf = [] }: Schema): void => {
    for (const [name, schema] of Object.entries(properties)) {
      if (schema.format === 'date-time') names.add(name)
      visit(schema)
    }
    for (const schema of [...oneOf, ...anyOf, ...(items ? [items] : [])]) visit(schema)
  }
  for (const schema of Object.values(schemas)) visit(schema)
  return names
}

function documentation(
  { summary, description }: { readonly summary: string; readonly description?: string },
  indent: number,
): string {
  const margin = ' '.repeat(indent)
  const text = [summary, description].filter((part) => part !== undefined).join(`\n\n${margin}`)
  return `${margin}"""${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"""`
}

/** The iterator over all pages: `readings` of `list_readings`. */
const severalOf = (name: string): string =>
  name.startsWith('list_') ? name.slice('list_'.length) : `all_${name}`

const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)
const quoted = (text: string): string => `'${text}'`
const snake = (name: string): string =>
  name
    .replaceAll('-', '_')
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()
const pascal = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
