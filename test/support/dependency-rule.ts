import { dirname, join, normalize } from 'node:path'

/**
 * What each folder may import besides itself: a word that ends in a slash is a folder of ours,
 * anything else a library. Every `node:` module is allowed but where `pureFolders` says not.
 */
export const allowed: Readonly<Record<string, readonly string[]>> = {
  core: ['merkletreejs'],
  schemas: ['core/', 'ajv', 'json-schema-to-ts'],
  runtime: ['core/', 'schemas/', '@nats-io', 'hash-wasm', 'pino', 'pino-pretty', 'prom-client'],
  gate: ['core/', 'schemas/', 'runtime/', 'koa', 'koa-body', '@nats-io', 'prom-client'],
  store: ['core/', '@influxdata/influxdb-client'],
  pipeline: ['core/', 'schemas/', 'runtime/', 'store/', 'rxjs', '@nats-io', 'prom-client'],
  anchor: ['core/', 'schemas/', 'runtime/', 'viem', '@nats-io', 'prom-client'],
  notifier: ['core/', 'schemas/', 'runtime/', 'undici', '@nats-io', 'prom-client'],
  api: [
    'core/',
    'schemas/',
    'runtime/',
    'store/',
    'koa',
    '@koa/router',
    'koa-body',
    '@nats-io',
    'prom-client',
  ],
  dashboard: [
    'core/',
    'schemas/',
    'runtime/',
    'store/',
    'koa',
    '@koa/router',
    'koa-body',
    'nodemailer',
    '@nats-io',
    'prom-client',
    // the pages in the browser, `dashboard/web`
    'preact',
    '@preact/signals',
    'uplot',
    'leaflet',
    'vite',
  ],
  cli: [
    'core/',
    'schemas/',
    'runtime/',
    'store/',
    'gate/',
    'pipeline/',
    'anchor/',
    'notifier/',
    'api/',
    'dashboard/',
    '@nats-io',
  ],
}

/** No clock, randomness, input or output here, so no module that brings them either. */
export const pureFolders: readonly string[] = ['core']

/** The folders that hold a process: they meet on subjects and buckets, never by import. */
export const processFolders = [
  'gate',
  'pipeline',
  'anchor',
  'notifier',
  'api',
  'dashboard',
] as const

/** What a file imports: `core/` for a folder of ours, `viem` or `node:fs` for a library. */
export function importsOf(file: string, source: string): string[] {
  const specifiers = [
    ...source.matchAll(/^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm),
    ...source.matchAll(/^\s*import\s*['"]([^'"]+)['"]/gm),
    ...source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g),
  ]
  return specifiers.map(([, specifier = '']) =>
    specifier.startsWith('.')
      ? `${normalize(join(dirname(file), specifier)).split('/')[0]}/`
      : specifier,
  )
}

/** The imports that the folder's row does not name. */
export function strays(folder: string, imports: readonly string[]): string[] {
  const permits = [`${folder}/`, ...(allowed[folder] ?? [])]
  if (!pureFolders.includes(folder)) permits.push('node:')
  return imports.filter((name) => !permits.some((permit) => covers(permit, name)))
}

const covers = (permit: string, name: string): boolean =>
  name === permit ||
  (permit === 'node:' ? name.startsWith(permit) : name.startsWith(`${permit.replace(/\/$/, '')}/`))
