import { type Answer, jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { apiErrors } from '../http/api-errors.ts'
import { openApi } from './document.ts'

/** GET /v1/openapi.json: this interface for programs. */
export function openApiDocument(): Route {
  const answer = { ...jsonAnswer(openApi), isKept: true }
  return {
    path: '/v1/openapi.json',
    params: [],
    types: [jsonType],
    isOpen: true,
    answer: () => answer,
  }
}

/** GET /v1/docs: the same for people, in one page that loads nothing from other hosts. */
export function docsPage(): Route {
  const answer: Answer = {
    type: 'text/html; charset=utf-8',
    isKept: true,
    body: Buffer.from(page()),
    headers: {
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    },
  }
  return {
    path: '/v1/docs',
    params: [],
    types: ['text/html'],
    isOpen: true,
    answer: () => answer,
  }
}

const text = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

function page(): string {
  const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries<Operation>(methods).map(([method, described]) =>
      operation(method, path, described),
    ),
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${text(openApi.info.title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 code { font-size: 1rem } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-top: 1px solid #8884 }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } a { color: #9cf } }
</style>
<h1>${text(openApi.info.title)}</h1>
<p>${text(openApi.info.description)}</p>
<p>For programs: <a href="/v1/openapi.json">/v1/openapi.json</a></p>
${operations.join('\n')}
<section>
<h2>Errors</h2>
<table>${Object.entries(apiErrors).map(errorRow).join('')}</table>
</section>
</html>
`
}

type Schema = {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: string | number
  readonly format?: string
}

type Operation = {
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly schema: Schema
    readonly description: string
  }[]
}

const operation = (
  method: string,
  path: string,
  { summary, description, parameters = [] }: Operation,
): string =>
  `<section>
<h2><code>${method.toUpperCase()} ${text(path)}</code></h2>
<p><b>${text(summary)}.</b> ${text(description ?? '')}</p>
${parameters.length === 0 ? '' : `<table>${parameters.map(row).join('')}</table>`}
</section>`

const errorRow = ([name, [status, when]]: [string, readonly [number, string]]): string =>
  `<tr><th>${code(name)}</th><td>${status}</td><td>${inCode(when)}</td></tr>`

const row = (parameter: NonNullable<Operation['parameters']>[number]): string =>
  `<tr><th><code>${text(parameter.name)}</code></th><td>${text(parameter.in)}</td><td>${text(parameter.description)}${allowed(parameter.schema)}</td></tr>`

/** The values a parameter may have, if they can be listed. */
function allowed({ enum: values, minimum, maximum, format, ...schema }: Schema): string {
  const rules: string[] = []
  if (values !== undefined) rules.push(values.map((value) => code(String(value))).join(', '))
  if (minimum !== undefined && maximum !== undefined) {
    rules.push(`${code(String(minimum))} to ${code(String(maximum))}`)
  }
  if (format === 'date-time') rules.push(`for example ${code('2026-01-31T08:00:00Z')}`)
  if (schema.default !== undefined) rules.push(`${code(String(schema.default))} unless given`)
  return rules.length === 0 ? '' : `<br>${rules.join('; ')}`
}

const code = (value: string): string => `<code>${text(value)}</code>`

/** Formats text between backticks as code. */
const inCode = (prose: string): string => text(prose).replaceAll(/`([^`]*)`/g, '<code>$1</code>')
