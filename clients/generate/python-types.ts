import type { Scalar, Schema } from './shape.ts'

/** Python's words: a field with such a name needs the other way to write a typed dict. */
const isName = (text: string): boolean =>
  /^[a-zA-Z_]\w*$/.test(text) && !['from', 'class', 'is', 'in', 'to', 'import'].includes(text)

const basic: Readonly<Record<string, string>> = {
  string: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  null: 'None',
  object: 'dict[str, object]',
}

/** Types for the document's schemas. An object within another is named after its place. */
export function pythonTypes(schemas: Readonly<Record<string, Schema>>): {
  readonly typeOf: (schema: Schema, name: string) => string
  /** Every type so far, each as lines of Python. */
  readonly declared: () => readonly string[]
} {
  const declared = new Map<string, string>()

  const typeOf = (schema: Schema, name: string): string => {
    if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    if (schema.const !== undefined) return literal([schema.const])
    if (schema.enum !== undefined) return literal(schema.enum)
    const several = schema.oneOf ?? schema.anyOf
    if (several !== undefined)
      return union(several.map((one, i) => typeOf(one, i === 0 ? name : `${name}${i}`)))
    const { type } = schema
    if (type === undefined) return 'object'
    if (typeof type !== 'string')
      return union(type.map((one) => typeOf({ ...schema, type: one }, name)))
    if (type === 'array') return `list[${typeOf(schema.items ?? {}, name)}]`
    if (type === 'object' && schema.properties !== undefined) return declare(schema, name)
    const known = basic[type]
    if (known === undefined) throw new Error(`no Python type is known for ${type}`)
    return known
  }

  const declare = (
    { properties = {}, required = [], description }: Schema,
    name: string,
  ): string => {
    if (name === '') throw new Error('an object that is not in the answers needs a name')
    if (declared.has(name)) throw new Error(`two types would be called ${name}`)
    declared.set(name, '')
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = typeOf(schema, `${name}${pascal(field)}`)
      return { field, schema, type: required.includes(field) ? type : `NotRequired[${type}]` }
    })
    const words = (text: string | undefined, margin: string): string =>
      !text ? '' : `${margin}"""${text.replaceAll('\\', '\\\\')}"""\n`
    if (fields.every(({ field }) => isName(field))) {
      const lines = fields.map(
        (one) => `    ${one.field}: ${one.type}\n${words(one.schema.description, '    ')}`,
      )
      const inside = `${words(description, '    ')}${lines.join('')}` || '    pass\n'
      declared.set(name, `class ${name}(TypedDict):\n${inside}`)
    } else {
      const lines = fields.map(({ field, type }) => `    '${field}': ${JSON.stringify(type)},\n`)
      declared.set(name, `${name} = TypedDict('${name}', {\n${lines.join('')}})\n`)
    }
    return name
  }

  for (const [name, schema] of Object.entries(schemas)) {
    if (schema.type === 'object' && schema.properties !== undefined) declare(schema, name)
    else declared.set(name, `${name}: TypeAlias = ${JSON.stringify(typeOf(schema, name))}\n`)
  }
  return { typeOf, declared: () => [...declared.values()].map((text) => `${text}\n`) }
}

const literal = (values: readonly Scalar[]): string => `Literal[${values.map(inPython).join(', ')}]`
const inPython = (value: Scalar): string => {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'number' ? String(value) : `'${value}'`
}
/** None last, as is usual. */
const union = (types: readonly string[]): string =>
  [...new Set(types)].toSorted((a, b) => Number(a === 'None') - Number(b === 'None')).join(' | ')
const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[_-])([a-z])/g, (_, letter: string) => letter.toUpperCase())
