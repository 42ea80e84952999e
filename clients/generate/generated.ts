/** The files of the clients that are made, each with its text; tests compare them with what is there. */
import { readFile } from 'node:fs/promises'
import { served as document } from '../../api/openapi/served.ts'
import { pythonClient, pythonTimes } from './python.ts'
import type { OpenApi } from './shape.ts'

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url)

/** As it is served. */
export const served: OpenApi = JSON.parse(JSON.stringify(document))

/** Ours, and where a client takes it along: it works without this repository. */
const taken = [
  ['examples/verify-python/verify.py', 'clients/python/src/airproof/_verifier.py'],
  ['anchor/verifier/airproof-verify.js', 'clients/typescript/verifier/airproof-verify.js'],
  ['anchor/verifier/airproof-verify.d.ts', 'clients/typescript/verifier/airproof-verify.d.ts'],
  ['LICENSE', 'clients/python/LICENSE'],
  ['LICENSE', 'clients/typescript/LICENSE'],
] as const

/** All but the types for TypeScript, which need a tool. */
export async function madeHere(): Promise<ReadonlyMap<URL, string>> {
  const copies = taken.map(
    async ([from, to]) => [at(to), await readFile(at(from), 'utf8')] as const,
  )
  return new Map([
    [at('clients/python/src/airproof/_generated.py'), pythonClient(served)],
    [at('clients/python/src/airproof/_times.py'), pythonTimes(served)],
    ...(await Promise.all(copies)),
  ])
}

export const typescriptFile = at('clients/typescript/src/schema.ts')
