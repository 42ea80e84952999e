/** GET /v1/openapi.json and /v1/docs: this interface for programs and for people. */
import { defaultIdPrefix } from '../../core/air/sensor-id.ts'
import { type Answer, jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { apiErrors } from '../http/api-errors.ts'
import { openApi } from './document.ts'
import { hasReference, referenceFiles } from './reference-files.ts'
import type { Parameter } from './samples.ts'
import { type Described, served } from './served.ts'

/** @param idPrefix of the network, whose ids are in the examples */
export function documentRoutes(idPrefix: string): readonly Route[] {
  const document: typeof served = JSON.parse(
    JSON.stringify(served).replaceAll(defaultIdPrefix, idPrefix),
  )
  return [openApiDocument(document), docsPage(document), ...referenceFiles()]
}

function openApiDocument(document: typeof served): Route {
  const answer = { ...jsonAnswer(document), isKept: true }
  return {
    path: '/v1/openapi.json',
    params: [],
    types: [jsonType],
    isOpen: true,
    answer: () => answer,
  }
}

/**
 * One page that loads nothing from other hosts: everything without a script, and with one Swagger UI
 * in its place, which needs neither inline styles nor `eval`.
 */
function docsPage(document: typeof served): Route {
  const answer: Answer = {
    type: 'text/html; charset=utf-8',
    isKept: true,
    body: Buffer.from(page(document)),
    headers: {
      // its pictures are in its style sheet
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
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

function page({ paths }: typeof served): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operation(method, path, described)),
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${text(openApi.info.title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/v1/docs/reference.css">
${hasReference ? reference : ''}
<div id="reference"></div>
<main id="plain">
<h1>${text(openApi.info.title)}</h1>
<p>${text(openApi.info.description)}</p>
<p>For programs: <a href="/v1/openapi.json">/v1/openapi.json</a></p>
${operations.join('\n')}
</main>
<section id="errors">
<h2>Errors</h2>
<table>${Object.entries(apiErrors).map(errorRow).join('')}</table>
</section>
</html>
`
}

const reference = `<link rel="stylesheet" href="/v1/docs/swagger-ui.css">
<script src="/v1/docs/swagger-ui.js" defer></script>
<script src="/v1/docs/reference.js" defer></script>`

const operation = (
  method: string,
  path: string,
  { summary, description, parameters = [], 'x-codeSamples': [sample] }: Described,
): string =>
  `<section>
<h2><code>${method.toUpperCase()} ${text(path)}</code></h2>
<p><b>${text(summary)}.</b> ${text(description ?? '')}</p>
${parameters.length === 0 ? '' : `<table>${parameters.map(row).join('')}</table>`}
<pre>${text(sample?.source ?? '')}</pre>
</section>`

const errorRow = ([name, [status, when]]: [string, readonly [number, string]]): string =>
  `<tr><th>${code(name)}</th><td>${status}</td><td>${inCode(when)}</td></tr>`

const row = (parameter: Parameter): string =>
  `<tr><th><code>${text(parameter.name)}</code></th><td>${text(parameter.in)}</td><td>${text(parameter.description)}${allowed(parameter.schema)}</td></tr>`

/** The values a parameter may have, if they can be listed. */
function allowed({
  enum: values,
  minimum,
  maximum,
  format,
  ...schema
}: Parameter['schema']): string {
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
