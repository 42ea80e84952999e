/** Every response that a test of the API gets must match the document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openApi } from '../../api/openapi/document.ts'

// times are checked by their pattern, which is stricter than the format
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'document', components: openApi.components })

type Content = Readonly<Record<string, { readonly schema: object }>>
type Told = {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: object
  readonly content?: Content
}
type Responses = Readonly<Record<string, Told>>
type Operation = { readonly responses: Responses }

/** Fixed paths first: `/proof/airproof-verify.js` is one too of `/proof/{sensor_id}/…`. */
const paths = Object.entries<Readonly<Record<string, Operation>>>(openApi.paths)
  .toSorted(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')))
  .map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    path,
    methods,
  }))

const compiled = new Map<object, ValidateFunction>()
function validatorOf(schema: object): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components')
  const made = ajv.compile(JSON.parse(text))
  compiled.set(schema, made)
  return made
}

function contentOf(
  method: string,
  address: string,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
): Content | undefined {
  const [path = ''] = address.split('?')
  const tag = headers.get('etag')
  const known = paths.find(({ pattern }) => pattern.test(path))
  // another address, or another method: an ordinary failure
  const operation = known?.methods[method === 'HEAD' ? 'get' : method.toLowerCase()]
  const response = operation?.responses[String(status)]
  const name = operation === undefined ? String(status) : response?.$ref?.split('/').at(-1)
  if (name !== undefined) return openApi.components.responses[name]?.content
  if (response === undefined) throw new Error(`the document has no ${status} for ${method} ${path}`)
  if (tag !== null && response.headers !== undefined && !('ETag' in response.headers))
    throw new Error(`the document has no ETag for ${status} of ${method} ${path}`)
  // the dashboard's own key gets none: its answers are not kept
  const isKept = headers.get('cache-control') !== 'no-store'
  if (tag === null && isKept && 'ETag' in (response.headers ?? {}))
    throw new Error(`${status} of ${method} ${path} lacks the ETag of the document`)
  return response.content
}

/** @throws Error that says how the response differs from the document */
export async function mustBeDocumented(
  method: string,
  address: string,
  answer: Response,
): Promise<void> {
  const content = contentOf(method, address, answer)
  if (method === 'HEAD' || answer.status === 304) return
  const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
  const schema = content?.[type]?.schema
  if (schema === undefined) {
    throw new Error(`the document has no ${type} for ${answer.status} of ${method} ${address}`)
  }
  if (!type.endsWith('json') || type.includes('ndjson')) return
  const fits = validatorOf(schema)
  if (fits(await answer.clone().json())) return
  const [first] = fits.errors ?? []
  const { instancePath = '', message = '' } = first ?? {}
  throw new Error(`${answer.status} of ${method} ${address}: ${instancePath || 'it'} ${message}`)
}
