/** How each operation is called from curl, Python, TypeScript and R. Tests run or compile each. */
type Schema = {
  readonly $ref?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: string | number
  readonly format?: string
  readonly examples?: readonly object[]
}
export type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
  readonly description: string
  readonly example?: string | number
}

/** As much of an operation as its samples and the page are made from. */
export type Operation = {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } }
  }
  readonly security?: readonly object[]
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
}
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
export type Sample = { readonly lang: string; readonly label: string; readonly source: string }

type Call = {
  readonly method: string
  readonly path: string
  readonly operation: Operation
  readonly query: readonly Parameter[]
  readonly names: readonly Parameter[]
  readonly body: object | undefined
}

/** Of `path` and `method`. @param body an example of what is sent, if something is */
export function samplesOf(
  method: string,
  path: string,
  operation: Operation,
  body?: object,
): Sample[] {
  const { parameters = [] } = operation
  // what an operation needs, and the sensor, area or time that most requests are about
  const shown = (one: Parameter): boolean =>
    one.required === true || ['sensor_id', 'area', 'start_time', 'after'].includes(one.name)
  const query = parameters
    .filter((one) => one.in === 'query' && shown(one))
    .flatMap((one) => {
      const example = one.example ?? one.schema.enum?.[0]
      return example === undefined ? [] : [{ ...one, example }]
    })
  const names = parameters.filter((one) => one.in === 'path')
  const call: Call = { method: method.toUpperCase(), path, operation, query, names, body }
  return [
    { lang: 'Shell', label: 'curl', source: curl(call) },
    { lang: 'Python', label: 'Python', source: python(call) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescript(call) },
    { lang: 'R', label: 'R', source: r(call) },
  ]
}

const needsKey = ({ operation: { security } }: Call): boolean => security?.length !== 0
const isJson = ({ operation: { responses } }: Call): boolean =>
  Object.entries(responses).some(
    ([status, { content }]) =>
      status.startsWith('2') && content !== undefined && 'application/json' in content,
  )

const filled = ({ path, names }: Call): string =>
  names.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  )

function curl(call: Call): string {
  const { method, query, body, operation } = call
  const search = query
    .map((one) => `${one.name}=${encodeURIComponent(String(one.example))}`)
    .join('&')
  const lines = [
    `curl -s${operation.operationId === 'stream' ? 'N' : ''} ${method === 'GET' ? '' : `-X ${method} `}"$AIRPROOF_URL${filled(call)}${search === '' ? '' : `?${search}`}"`,
    ...(needsKey(call) ? ['-H "Authorization: Bearer $AIRPROOF_KEY"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ]
  return lines.join(' \\\n  ')
}

const quoted = (value: string | number | undefined): string =>
  typeof value === 'number' ? String(value) : `'${value}'`

/** Operations with helpers of their own in the clients. */
const helpers: Readonly<Record<string, { readonly python: string; readonly typescript: string }>> =
  {
    listReadings: {
      python: `rows = air.readings(sensor_id='NGR-LOS-IKJ-017', start_time='2026-01-31T00:00:00Z').to_pandas()`,
      typescript: `for await (const reading of air.readings({ sensor_id: 'NGR-LOS-IKJ-017' })) {
  console.log(reading.timestamp, reading.pm25)
}`,
    },
    listSensors: {
      python: `rows = air.sensors(include='latest').to_pandas()`,
      typescript: `for await (const sensor of air.sensors({ include: 'latest' })) {
  console.log(sensor.id, sensor.pm25)
}`,
    },
    listChanges: {
      python: `for page in air.changes(after='start'):
    print(page['readings'], page['next_cursor'])`,
      typescript: `for await (const page of air.changes('start')) {
  console.log(page.readings, page.next_cursor)
}`,
    },
    proofOfReading: {
      python: `proof = air.verify('NGR-LOS-IKJ-017', '2026-01-31T08:00:00.000Z')
print(*proof.words, sep='\\n')`,
      typescript: `const proof = await air.verify('NGR-LOS-IKJ-017', '2026-01-31T08:00:00.000Z')
console.log(proof.ok, proof.trusts)`,
    },
    stream: {
      python: `for event in air.stream(area='Ikeja'):
    print(event.event, event.data)`,
      typescript: `for await (const event of air.stream({ area: 'Ikeja' })) {
  console.log(event.event, event.data)
}`,
    },
  }

function python(call: Call): string {
  const { operation, query, names, body } = call
  const key = needsKey(call) ? `, os.environ['AIRPROOF_KEY']` : ''
  const head = `import os
from airproof import Client

air = Client(os.environ['AIRPROOF_URL']${key})
`
  const helper = helpers[operation.operationId]
  if (helper !== undefined) return head + helper.python
  // what is not JSON has no method
  if (!isJson(call)) return plainPython(call)
  const given = [
    ...names.map((one) => quoted(one.example)),
    ...(body === undefined ? [] : [pythonValue(body)]),
    ...query.map((one) => `${one.name}=${quoted(one.example)}`),
  ]
  const name = operation.operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return `${head}answer = air.${name}(${given.join(', ')})`
}

const plainPython = (call: Call): string => `import os
import httpx

answer = httpx.get(os.environ['AIRPROOF_URL'] + '${filled(call)}')
print(answer.text)`

function pythonValue(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, one]) => `'${name}': ${pythonValue(one)}`)
  return `{${fields.join(', ')}}`
}

function typescript(call: Call): string {
  const { operation, method, path, query, names, body } = call
  const head = `import { airproof } from 'airproof-client'

const air = airproof({ url: 'https://air.example'${needsKey(call) ? ", key: 'aqk_…'" : ''} })
`
  const helper = helpers[operation.operationId]
  if (helper !== undefined) return head + helper.typescript
  if (!isJson(call))
    return `const answer = await fetch('https://air.example${filled(call)}')
console.log(await answer.text())`
  const fields = (given: readonly Parameter[]): string =>
    `{ ${given.map((one) => `${one.name}: ${quoted(one.example)}`).join(', ')} }`
  const params = [
    ...(names.length === 0 ? [] : [`path: ${fields(names)}`]),
    ...(query.length === 0 ? [] : [`query: ${fields(query)}`]),
  ]
  const init = [
    ...(params.length === 0 ? [] : [`params: { ${params.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: ${JSON.stringify(body)}`]),
  ]
  const options =
    init.length === 0
      ? ''
      : `, {
  ${init.join(',\n  ')},
}`
  return `${head}const { data, error } = await air.api.${method}('${path}'${options})`
}

function r(call: Call): string {
  const { method, query, body } = call
  const steps = [
    `request(Sys.getenv("AIRPROOF_URL"))`,
    `req_url_path_append("${filled(call).slice(1)}")`,
    ...(method === 'GET' ? [] : [`req_method("${method}")`]),
    ...(query.length === 0
      ? []
      : [
          `req_url_query(${query.map((one) => `${one.name} = ${JSON.stringify(one.example)}`).join(', ')})`,
        ]),
    ...(needsKey(call) ? ['req_auth_bearer_token(Sys.getenv("AIRPROOF_KEY"))'] : []),
    ...(body === undefined ? [] : [`req_body_raw('${JSON.stringify(body)}', "application/json")`]),
    'req_retry(max_tries = 5)',
    'req_perform()',
    isJson(call) ? 'resp_body_json()' : 'resp_body_string()',
  ]
  return `library(httr2)

answer <- ${steps.join(' |>\n  ')}`
}
