/** The files of `/v1/docs`: our own, and Swagger UI as it was published, from our own address. */
import { existsSync, readFileSync } from 'node:fs'
import type { Answer, Route } from '../http/answer.ts'

/** A clone has it as a package, ours as a copy. */
const swagger = [
  new URL('./reference/', import.meta.url),
  new URL('../../node_modules/swagger-ui-dist/', import.meta.url),
].find((place) => existsSync(new URL('swagger-ui-bundle.js', place)))

/** Without Swagger UI, in an installation that left it out, the page is what it is without a script. */
export const hasReference = swagger !== undefined

export const referenceFiles = (): readonly Route[] => [
  file('reference.css', new URL('./reference/reference.css', import.meta.url)),
  ...(swagger !== undefined
    ? [
        file('reference.js', new URL('./reference/reference.js', import.meta.url)),
        file('swagger-ui.js', new URL('swagger-ui-bundle.js', swagger)),
        file('swagger-ui.css', new URL('swagger-ui.css', swagger)),
      ]
    : []),
]

function file(name: string, from: URL): Route {
  const type = name.endsWith('.css') ? 'text/css' : 'text/javascript'
  let made: Answer | undefined
  return {
    path: `/v1/docs/${name}`,
    isPart: true,
    params: [],
    types: [type],
    isOpen: true,
    // read when it is first asked for: most processes never are
    answer: () =>
      (made ??= {
        type: `${type}; charset=utf-8`,
        isKept: true,
        body: readFileSync(from),
        headers: { 'x-content-type-options': 'nosniff' },
      }),
  }
}
