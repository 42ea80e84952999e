/** What is in deploy/kubernetes: valid, closed to all but what a process needs, and as compose has it. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { command as accessCommand } from '../../cli/access/access.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import { environment } from '../../runtime/process/config.ts'
import { readCompose, readRecipe } from '../support/compose.ts'
import { kubernetesSchemas, type Pod, readManifests } from '../support/kubernetes.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const env = environment()
const manifests = readManifests()
const settings = new Map(
  manifests.flatMap(({ kind, metadata, data }) =>
    kind === 'ConfigMap' ? [[metadata.name, data ?? {}] as const] : [],
  ),
)
const pods = manifests.flatMap(({ metadata, spec }): [string, Pod][] =>
  spec?.template === undefined ? [] : [[metadata.name, spec.template.spec]],
)
const secretsOf = ({ volumes = [] }: Pod): readonly string[] =>
  volumes.flatMap(({ secret }) => secret?.items.map(({ key }) => key) ?? []).toSorted()

test('every manifest is what Kubernetes knows, field by field', async (context) => {
  const faultsOf = await kubernetesSchemas(env)
  if ('missing' in faultsOf) return context.skip(faultsOf.missing)
  expect(manifests.flatMap((manifest) => faultsOf(manifest))).toEqual([])
  // the check itself: a field that is misspelt, and one of a wrong type
  const [first] = manifests
  expect(faultsOf({ ...first, metadate: {} })).toHaveLength(1)
  expect(faultsOf({ ...first, data: { AIRPROOF_REPLICAS: 3 } })).toHaveLength(1)
})

test.each(pods)('%s is not root, writes to its volumes alone, and has no rights', (_name, pod) => {
  expect(pod.automountServiceAccountToken).toBe(false)
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  })
  for (const { securityContext } of [...pod.containers, ...(pod.initContainers ?? [])])
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
})

const { services } = readCompose()

test.each(pods)('%s has the secrets that compose gives it, and no other', (name, pod) => {
  expect(secretsOf(pod)).toEqual([...(services[name]?.secrets ?? [])].toSorted())
  const values = pod.containers.flatMap((container) => container.env ?? [])
  const files = values.flatMap(
    ({ value }) => /^\/run\/(?:secrets|key)\/(.+)$/.exec(value)?.[1] ?? [],
  )
  expect([...new Set(files)].toSorted()).toEqual(secretsOf(pod))
})

/** In the manifests the archive is left out, and the ports are those by default. */
const onlyInCompose = [
  'AIRPROOF_ARCHIVE_DIR',
  'AIRPROOF_API_PORT',
  'AIRPROOF_DASHBOARD_PORT',
  'AIRPROOF_PUSH_PORT',
]

test.each(pods)('%s has every setting that compose gives it', (name, { containers }) => {
  const own = containers.flatMap((container) => container.env ?? []).map((one) => one.name)
  const shared = containers
    .flatMap(({ envFrom = [] }) => envFrom)
    .flatMap(({ configMapRef }) => Object.keys(settings.get(configMapRef.name) ?? {}))
  const given = new Set([...own, ...shared, ...onlyInCompose])
  const wanted = Object.keys(services[name]?.environment ?? {})
  expect(wanted.filter((one) => !given.has(one))).toEqual([])
  // a process with the address of a store and no token ends with 2
  expect(given.has('INFLUX_URL')).toBe(wanted.includes('INFLUX_URL'))
})

test('only compose’s archive and its one-off are missing', () => {
  const names = Object.entries(services)
    .filter(([, { build, image }]) => build !== undefined || image?.startsWith('influxdb'))
    .map(([name]) => name)
  const here = new Set(pods.map(([name]) => name))
  expect(names.filter((name) => !here.has(name)).toSorted()).toEqual(['archive', 'streams'])
  expect(readRecipe().user).toBe('node')
})

/**
 * The chart is in no registry that a test may use: a folder with it is named by AIRPROOF_NATS_CHART, as
 * `helm pull nats/nats --version 2.14.2 --untar` leaves it.
 */
test('the values make valid manifests of the NATS chart, and a configuration that nats-server takes', async (context) => {
  const chart = env['AIRPROOF_NATS_CHART']
  const helm = onPath('helm', env)
  if (chart === undefined || helm === undefined)
    return context.skip('needs helm, and AIRPROOF_NATS_CHART: a folder with the NATS chart')
  const args = ['template', 'nats', chart, '--values', 'deploy/kubernetes/nats-values.yaml']
  const rendered = parseAllDocuments(await runTool(helm, args, { env, timeoutMs: 60_000 }))
    .map((document) => document.toJS() as { kind: string; data?: Record<string, string> } | null)
    .filter((one) => one !== null)
  const faultsOf = await kubernetesSchemas(env)
  if ('missing' in faultsOf) return context.skip(faultsOf.missing)
  expect(rendered.flatMap((one) => faultsOf(one))).toEqual([])
  const config = rendered.find(({ kind }) => kind === 'ConfigMap')?.data?.['nats.conf'] ?? ''
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'nats-config'))
  const file = join(folder.path, 'nats-config', 'nats.conf')
  writeFileSync(file, config)
  await runCommand(accessCommand, { words: [join(folder.path, 'nats-users')] })
  const engine = await findNatsServer({ env })
  if (engine.kind === 'docker') return context.skip('needs a nats-server that is a program')
  const named = { ...env, SERVER_NAME: 'nats-0' }
  const checked = spawnSync(engine.file, ['-t', '-c', file], { env: named, encoding: 'utf8' })
  expect([checked.status, checked.stderr]).toEqual([0, expect.stringContaining('is valid')])
})

test('the values name the version of nats-server that the tests run', () => {
  const values = parse(readFileSync('deploy/kubernetes/nats-values.yaml', 'utf8')) as {
    container: { image: { tag: string } }
  }
  expect(`nats:${values.container.image.tag}`).toBe(services['nats']?.image)
})
