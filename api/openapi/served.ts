/** The document as it is served: with samples of each operation in four languages. */
import { openApi } from './document.ts'
import { type OpenApi, type Operation, type Sample, samplesOf } from './samples.ts'

const document: OpenApi = JSON.parse(JSON.stringify(openApi))

/** The example of what is sent. */
function bodyOf({ requestBody }: Operation): object | undefined {
  const name = requestBody?.content['application/json'].schema.$ref?.replace(/.*\//, '')
  if (name === undefined) return undefined
  const [example] = document.components.schemas[name]?.examples ?? []
  if (example === undefined) throw new Error(`${name} is sent, so it needs an example`)
  return example
}

export type Described = Operation & { readonly 'x-codeSamples': readonly Sample[] }

const described = (path: string, methods: Readonly<Record<string, Operation>>) =>
  Object.fromEntries(
    Object.entries(methods).map(([method, operation]): [string, Described] => {
      const samples = samplesOf(method, path, operation, bodyOf(operation))
      return [method, { ...operation, 'x-codeSamples': samples }]
    }),
  )

const paths: Readonly<Record<string, Readonly<Record<string, Described>>>> = Object.fromEntries(
  Object.entries(document.paths).map(([path, methods]) => [path, described(path, methods)]),
)

export const served = { ...openApi, paths }
