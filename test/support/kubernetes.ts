/** The manifests of deploy/kubernetes as `kubectl` reads them, and the schemas of Kubernetes' own types. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import type { Environment } from '../../runtime/settings.ts'
import { pythonPackage } from './python-package.ts'

type Named = { readonly name: string }
export type Container = Named & {
  readonly args?: readonly string[]
  readonly env?: readonly (Named & { readonly value: string })[]
  readonly envFrom?: readonly { readonly configMapRef: Named }[]
  readonly securityContext?: unknown
}
export type Pod = {
  readonly automountServiceAccountToken?: boolean
  readonly securityContext?: unknown
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly volumes?: readonly {
    readonly secret?: { readonly items: readonly { readonly key: string }[] }
  }[]
}
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Named
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: { readonly template?: { readonly spec: Pod } }
}

export const readManifests = (): readonly Manifest[] =>
  (
    parse(readFileSync('deploy/kubernetes/airproof.yaml', 'utf8'), { merge: true }) as {
      items: Manifest[]
    }
  ).items

export type FaultsOf = (manifest: unknown) => readonly string[]

type Definitions = {
  readonly $id: string
  readonly $defs: Readonly<
    Record<
      string,
      {
        readonly 'x-kubernetes-group-version-kind'?: readonly {
          readonly group: string
          readonly version: string
          readonly kind: string
        }[]
      }
    >
  >
}

/** Strict: a field that Kubernetes would ignore is a fault. @returns why not, if they are not to be had */
export async function kubernetesSchemas(
  env: Environment,
): Promise<FaultsOf | { readonly missing: string }> {
  const found = await pythonPackage({ name: 'kubernetes-validate', version: '1.37.0' }, env)
  if ('missing' in found) return found
  const [file = ''] = globSync(
    join(found.folder, '*', 'kubernetes-json-schema', 'v1.37.0-local-strict', '_definitions.json'),
  )
  const definitions = JSON.parse(readFileSync(file, 'utf8')) as Definitions
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema(definitions)
  return (manifest) => {
    const { apiVersion, kind } = manifest as Manifest
    const [version, group = ''] = apiVersion.split('/').toReversed()
    const entry = Object.entries(definitions.$defs).find(([, definition]) =>
      definition['x-kubernetes-group-version-kind']?.some(
        (of) => of.group === group && of.version === version && of.kind === kind,
      ),
    )
    if (entry === undefined) return [`Kubernetes 1.37 has no ${apiVersion} ${kind}`]
    const validate = ajv.compile({ $ref: `${definitions.$id}#/$defs/${entry[0]}` })
    if (validate(manifest)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${kind} ${instancePath}: ${message} ${JSON.stringify(params)}`,
    )
  }
}
