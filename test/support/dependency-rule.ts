import { dirname, join, normalize } from 'node:path'

/**
 * What each folder may import in addition to itself: a word that ends in a slash is our own folder,
 * anything else a library. Every `node:` module is allowed, except in `pureFolders`.
 */
export const allowed: Readonly<Record<string, readonly string[]>> = {
  core: ['merkletreejs'],
  schemas: ['core/', 'ajv', 'json-schema-to-ts'],
  runtime: [
    'core/',
    'schemas/',
    '@nats-io',
    // traces, loaded where a collector is set
    '@opentelemetry',
    'hash-wasm',
    // its types, its router, and the one reader of bodies
    'koa',
    '@koa/router',
    'raw-body',
    'pino',
    'pino-pretty',
    'prom-client',
  ],
  // what more than one process or command does with the same records
  operate: ['core/', 'schemas/', 'runtime/', 'store/', 'anchor/verifier/', 'hyparquet', '@nats-io'],
  gate: ['core/', 'schemas/', 'runtime/', 'operate/', 'koa', '@nats-io'],
  store: ['core/', '@influxdata/influxdb-client'],
  pipeline: [
    'core/',
    'schemas/',
    'runtime/',
    // old readings, which the archive has
    'operate/',
    'store/',
    'rxjs',
    '@nats-io',
  ],
  anchor: ['core/', 'schemas/', 'runtime/', 'viem', '@nats-io'],
  notifier: ['core/', 'schemas/', 'runtime/', 'undici', '@nats-io'],
  archive: ['core/', 'schemas/', 'runtime/', 'operate/', 'store/', 'hyparquet-writer', '@nats-io'],
  api: [
    'core/',
    'schemas/',
    'runtime/',
    'operate/',
    'store/',
    'ajv',
    'json-schema-to-ts',
    'kdbush',
    'koa',
    '@nats-io',
  ],
  dashboard: [
    'core/',
    'schemas/',
    'runtime/',
    'operate/',
    'anchor/verifier/',
    'koa',
    'nodemailer',
    'qrcode-generator',
    '@resvg/resvg-wasm',
    // hands on what the API has packed
    'undici',
    '@nats-io',
    // the pages in the browser, `dashboard/web`
    'preact',
    '@preact/signals',
    'uplot',
    'leaflet',
    'supercluster',
    // the map's ground: its file's head in the server, its tiles in the browser
    'pmtiles',
    'protomaps-leaflet',
    'vite',
  ],
  // what a release is made of; no other folder imports it
  release: ['runtime/'],
  // made from what the API serves; no other folder imports it
  clients: ['api/', 'runtime/', 'anchor/verifier/', 'openapi-fetch'],
  // from what the processes register; no other folder imports it
  observe: [
    'gate/',
    'pipeline/',
    'anchor/',
    'notifier/',
    'archive/',
    'api/',
    'dashboard/',
    'runtime/',
  ],
  cli: [
    'core/',
    'schemas/',
    'runtime/',
    'operate/',
    'store/',
    'ajv',
    'json-schema-to-ts',
    'gate/',
    'pipeline/',
    'anchor/',
    'notifier/',
    'archive/',
    'api/',
    'dashboard/',
    '@nats-io',
    // `airproof map build`
    '@maplibre/geojson-vt',
    '@maplibre/vt-pbf',
    'pmtiles',
  ],
}

/**
 * The rooms of a folder, each with the rooms of the same folder that it may import. Files that are
 * in no room may import any and be imported by any, as long as there is no cycle.
 */
export const rooms: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  core: { access: [], air: [], delivery: ['air', 'access'], proof: ['air'], state: ['air'] },
  schemas: { anchoring: [], devices: [], examples: [], log: [], people: [], webhooks: [] },
  runtime: {
    hashes: [],
    secrets: [],
    http: [],
    machine: ['http'],
    nats: ['secrets'],
    process: ['http', 'machine', 'nats'],
    engines: ['machine', 'nats'],
  },
  operate: { proofs: [], webhooks: [], exports: ['proofs'], archive: ['exports'] },
  store: { influx: [], sqlite: [] },
  gate: {
    devices: [],
    callout: [],
    connections: [],
    push: ['devices'],
    topics: ['push', 'devices'],
  },
  anchor: {
    contract: [],
    verifier: [],
    seal: [],
    chain: ['contract'],
    deploy: ['chain', 'contract'],
    send: ['chain', 'contract'],
    audit: ['chain', 'contract'],
  },
  pipeline: {
    intake: [],
    decide: ['intake'],
    log: [],
    projections: [],
    neighbours: [],
    copies: ['intake', 'log'],
  },
  notifier: {
    scheduler: [],
    sources: [],
    ledger: [],
    match: ['sources', 'ledger'],
    send: ['sources', 'scheduler'],
    owners: ['send'],
  },
  api: {
    http: [],
    access: ['http'],
    quota: ['http', 'access'],
    live: ['http'],
    openapi: ['http', 'stream'],
    areas: ['http', 'live'],
    sensors: ['http', 'live', 'areas', 'readings'],
    readings: ['http', 'live'],
    changes: ['http', 'live', 'areas', 'readings'],
    proofs: ['http', 'live'],
    archive: ['http'],
    stream: ['http', 'live', 'sensors'],
    webhooks: ['http', 'live'],
    statistics: ['http', 'live', 'areas', 'readings', 'sensors'],
  },
  dashboard: { texts: [], mail: ['server', 'texts'], server: ['texts'], web: ['texts'] },
  cli: {
    shell: [],
    up: ['shell', 'doctor'],
    access: ['shell'],
    store: ['shell', 'up'],
    doctor: ['shell'],
    backup: ['shell', 'store'],
    simulate: ['shell'],
    replay: ['shell'],
    sensors: ['shell', 'replay'],
    archive: ['shell'],
    export: ['shell'],
    map: ['shell'],
    anchor: ['shell', 'export'],
    audit: ['shell', 'export'],
  },
}

/** No clock, randomness, input or output here, so no module that provides them either. */
export const pureFolders: readonly string[] = ['core']

/** The folders that hold a process: they communicate by subjects and buckets, never by import. */
export const processFolders = [
  'gate',
  'pipeline',
  'anchor',
  'notifier',
  'archive',
  'api',
  'dashboard',
] as const

/**
 * What a command may import from a process's folder: what starts it, what it reads from the environment,
 * and rooms that belong to no running process. What a process and a command both need is in
 * `operate/`. A door that ends in a slash is a room.
 */
export const doors: Readonly<Record<(typeof processFolders)[number], readonly string[]>> = {
  // `doctor` reads each process's settings as it does itself
  gate: ['main.ts', 'config.ts'],
  pipeline: ['main.ts'],
  // `send/resync.ts` is what an operator does to the sender's journal
  anchor: ['main.ts', 'config.ts', 'audit/', 'chain/', 'deploy/', 'verifier/', 'send/resync.ts'],
  notifier: ['main.ts', 'config.ts'],
  // `archive-once.ts` is the same work, once, by an operator
  archive: ['main.ts', 'archive-once.ts', 'config.ts'],
  api: ['main.ts', 'config.ts'],
  // `mail/post.ts` also signs in to the mail server, and sends nothing
  dashboard: ['main.ts', 'config.ts', 'mail/post.ts'],
}

/** The files of a process's folder among these that none of its doors allows. */
export const pastDoors = (targets: readonly string[]): string[] =>
  targets.filter((target) =>
    processFolders.some(
      (folder) =>
        target.startsWith(`${folder}/`) &&
        !doors[folder].some((door) => {
          const path = `${folder}/${door}`
          return door.endsWith('/') ? target.startsWith(path) : target === path
        }),
    ),
  )

/** Rooms that a row may name apart from their folder: they import nothing, so nothing else is imported. */
export const openRooms: readonly string[] = ['anchor/verifier/']

/** What a file imports: `core/` for our own folder, `viem` or `node:fs` for a library. */
export function importsOf(file: string, source: string): string[] {
  return specifiersOf(source).map((specifier) => {
    if (!specifier.startsWith('.')) return specifier
    const target = targetOf(file, specifier)
    return openRooms.find((room) => target.startsWith(room)) ?? `${target.split('/')[0]}/`
  })
}

/** Our own files that a file imports, types included. */
export const filesImportedBy = (file: string, source: string): string[] =>
  specifiersOf(source)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => targetOf(file, specifier))

/** `core/air` for a file in a room of its folder, else the file itself. */
export function roomOf(file: string): string {
  const [folder = '', room = '', ...rest] = file.split('/')
  return rest.length > 0 && rooms[folder]?.[room] !== undefined ? `${folder}/${room}` : file
}

const targetOf = (file: string, specifier: string): string =>
  normalize(join(dirname(file), specifier)).replaceAll('\\', '/')

function specifiersOf(source: string): string[] {
  const specifiers = [
    ...source.matchAll(/^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm),
    ...source.matchAll(/^\s*import\s*['"]([^'"]+)['"]/gm),
    ...source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g),
  ]
  return specifiers.map(([, specifier = '']) => specifier)
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
