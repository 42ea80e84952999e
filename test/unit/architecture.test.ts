import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  allowed,
  filesImportedBy,
  importsOf,
  openRooms,
  pastDoors,
  processFolders,
  roomOf,
  rooms,
  strays,
} from '../support/dependency-rule.ts'

const folderOf = (file: string): string => file.split('/')[0] ?? ''
const sources = (pattern: string): string[] =>
  globSync(pattern, { exclude: ['node_modules/**'] }).map((file) => file.replaceAll('\\', '/'))

const files = Object.keys(allowed).flatMap((folder) => sources(`${folder}/**/*.{ts,tsx}`))

test('the rule looks at real files', () => expect(files.length).toBeGreaterThan(5))

test('a folder that reaches into another, or for a clock, is caught', () => {
  const source = [
    `import { x } from '../../pipeline/x.ts'`,
    `import fs from 'node:fs'`,
    `import { y } from '../y.ts'`,
    `const late = await import('rxjs')`,
    `import 'ajv/dist/core.js'`,
  ].join('\n')
  const imports = importsOf('core/aqi/z.ts', source)
  expect(strays('core', imports).toSorted()).toEqual(
    ['ajv/dist/core.js', 'node:fs', 'pipeline/', 'rxjs'].toSorted(),
  )
  expect(strays('schemas', ['ajv/dist/core.js', 'ajv-formats', 'node:fs'])).toEqual(['ajv-formats'])
})

test('no row of the rule lets a process import another one', () => {
  const meetings = processFolders.flatMap((folder) =>
    (allowed[folder] ?? []).filter((name) => processFolders.some((other) => name === `${other}/`)),
  )
  expect(meetings).toEqual([])
})

test('a room that is open by itself imports nothing, or a process would come along', () => {
  for (const room of openRooms) {
    const inside = sources(`${room}**/*.{ts,tsx,js}`)
    expect(inside.length).toBeGreaterThan(0)
    expect(inside.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')))).toEqual([])
  }
})

test('nothing imports the tests, the benchmarks or the examples', () => {
  const named = new Set(Object.values(allowed).flat())
  expect(['test/', 'bench/', 'examples/', 'docs/'].filter((folder) => named.has(folder))).toEqual(
    [],
  )
})

test('each file imports only what its folder may', () => {
  const found = files.flatMap((file) =>
    strays(folderOf(file), importsOf(file, readFileSync(file, 'utf8'))).map(
      (name) => `${file} imports ${name}`,
    ),
  )
  expect(found).toEqual([])
})

const graph = new Map(
  files.map((file) => [file, filesImportedBy(file, readFileSync(file, 'utf8'))] as const),
)

test('a room imports only the rooms of its folder that its row names', () => {
  const between = [...graph].flatMap(([file, imported]) =>
    imported.flatMap((target) => {
      const [from = '', own = '', ...deeper] = roomOf(file).split('/')
      const [to, other = '', ...further] = roomOf(target).split('/')
      const areRooms = !own.includes('.') && !other.includes('.')
      const isSame = from !== to || own === other || deeper.length > 0 || further.length > 0
      return areRooms && !isSame && !rooms[from]?.[own]?.includes(other)
        ? [`${file} imports ${target}`]
        : []
    }),
  )
  expect(between).toEqual([])
})

test('a command takes only what starts a process, or belongs to none that runs', () => {
  const taken = [...graph].flatMap(([file, imported]) =>
    file.startsWith('cli/') ? pastDoors(imported).map((target) => `${file} imports ${target}`) : [],
  )
  expect(taken).toEqual([])
  const seen = ['api/main.ts', 'api/keep.ts', 'anchor/audit/audit.ts', 'anchor/send/sender.ts']
  expect(pastDoors(seen)).toEqual(['api/keep.ts', 'anchor/send/sender.ts'])
})

test('every folder in a folder of rooms is one', () => {
  const found = (folder: string): string[] => [
    ...new Set(
      files
        .filter((file) => file.startsWith(`${folder}/`) && file.split('/').length > 2)
        .map((file) => file.split('/')[1] ?? ''),
    ),
  ]
  const named = Object.keys(allowed).filter((folder) => rooms[folder] !== undefined)
  const unnamed = named.flatMap((folder) =>
    found(folder).flatMap((room) => (rooms[folder]?.[room] ? [] : [`${folder}/${room}`])),
  )
  expect(unnamed).toEqual([])
})

/** Nodes are rooms, and files that are in none; an import of a type counts like any other. */
function circle(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>()
  const visit = (node: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return undefined
    for (const next of edges.get(node) ?? []) {
      const found = visit(next, [...path, node])
      if (found) return found
    }
    done.add(node)
    return undefined
  }
  for (const node of edges.keys()) {
    const found = visit(node, [])
    if (found) return found
  }
  return undefined
}

test('no circle of imports between rooms, nor between files', () => {
  const edges = (nodeOf: (file: string) => string): Map<string, Set<string>> => {
    const all = new Map<string, Set<string>>()
    for (const [file, imported] of graph)
      for (const target of imported) {
        const [from, to] = [nodeOf(file), nodeOf(target)]
        if (from !== to) all.set(from, (all.get(from) ?? new Set()).add(to))
      }
    return all
  }
  expect(circle(edges((file) => file))).toBeUndefined()
  const asRooms = (file: string): string => (file.startsWith('dashboard/') ? file : roomOf(file))
  expect(circle(edges(asRooms))).toBeUndefined()
  expect(
    circle(
      new Map([
        ['a', new Set(['b'])],
        ['b', new Set(['a'])],
      ]),
    ),
  ).toEqual(['a', 'b', 'a'])
})

test('the rooms of the settings pages import nothing of one another', () => {
  const settings = 'dashboard/web/pages/settings/'
  const roomIn = (file: string): string | undefined =>
    file.startsWith(settings) ? file.slice(settings.length).split('/')[0] : undefined
  const inRooms = [...graph].filter(([file]) => roomIn(file) !== undefined)
  const strays = inRooms.flatMap(([file, imported]) =>
    [...imported].filter((target) => {
      const room = roomIn(target)
      return room !== undefined && !room.endsWith('.css') && room !== roomIn(file)
    }),
  )
  expect(inRooms.length).toBeGreaterThan(20)
  expect(strays).toEqual([])
})

const readsEnvironment = (source: string): boolean =>
  /\bprocess\s*(?:\.\s*env\b|\[\s*['"]env['"]\s*\])|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|\bimport\b[^'"]*\benv\b[^'"]*['"](?:node:)?process['"]/.test(
    source,
  )

test('a file that reads the environment is caught, however it spells it', () => {
  expect(
    [
      'const a = process.env.HOME',
      `process['env']`,
      'const { env } = process',
      `import { env } from 'node:process'`,
    ].map(readsEnvironment),
  ).toEqual([true, true, true, true])
  expect(readsEnvironment('const env = { PATH: 1 }')).toBe(false)
})

test('only a config file reads the environment', () => {
  const readers = files.filter((file) => readsEnvironment(readFileSync(file, 'utf8')))
  // what it has of it is a text that it shows
  const shown = 'api/openapi/samples.ts'
  expect(readers.filter((file) => !file.endsWith('/config.ts') && file !== shown)).toEqual([])
})

const getsDirectly = (source: string): boolean =>
  /\.direct\s*\.|\{[^}]*\bdirect\b[^}]*\}\s*=\s*await\b|\$JS\.API\.DIRECT\.GET/.test(source)

test('a replica that lags is asked only for what may be a moment old', () => {
  expect(
    [
      'await manager.direct\n .getMessage',
      'const { direct } = await x',
      '`$JS.API.DIRECT.GET.A`',
    ].map(getsDirectly),
  ).toEqual([true, true, true])
  const found = files.filter((file) => getsDirectly(readFileSync(file, 'utf8')))
  expect(found.toSorted()).toEqual([
    // lists for people
    'api/webhooks/past-events.ts',
    'dashboard/server/read-subject.ts',
    'operate/operator-log.ts',
    'operate/webhooks/attempt-log.ts',
    // rights
    'runtime/engines/nats-rights.ts',
    'runtime/engines/nats-users.ts',
    // asks the leader if it finds nothing; what is there never changes
    'runtime/nats/batch-blobs.ts',
    // says so to its callers
    'runtime/nats/buckets/last-values.ts',
    // its callers read on
    'runtime/nats/read-batch.ts',
  ])
})
