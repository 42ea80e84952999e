/** The archive of a network with both leaf versions: made, made again, verified, damaged, mirrored. */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditReport } from '../../anchor/audit/audit.ts'
import { tableWriter } from '../../archive/write-table.ts'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { command as mirrorCommand } from '../../cli/mirror.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import { dayMs } from '../../core/time.ts'
import type { Catalogue } from '../../operate/archive/catalogue.ts'
import { checkArchive } from '../../operate/archive/check-archive.ts'
import { rowsOf } from '../../operate/archive/check-archive-run.ts'
import { putFile } from '../../operate/archive/put-file.ts'
import { readingColumns } from '../../operate/archive/reading-columns.ts'
import { parseRunManifest, runManifestText } from '../../operate/archive/run-manifest.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { decodeLogCursor } from '../../schemas/log/log-cursor.ts'
import type { Store } from '../../store/store.ts'
import { type ArchivedCity, archivedCity, level3, todayMs } from '../support/archived-city.ts'
import { runCommand } from '../support/run-command.ts'

const opened = new AsyncDisposableStack()
let city: ArchivedCity
let archive: string

beforeAll(async () => {
  city = opened.use(await archivedCity())
  archive = join(city.folder, 'archive')
  await city.archive(archive, { withHashes: true })
})
afterAll(() => opened.disposeAsync())

const verified = (words: string) => runCommand(verifyCommand, { words: [words] })
const catalogueOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'catalogue.json'), 'utf8')) as Catalogue
const filesIn = (folder: string): string[] =>
  globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
let copies = 0
/** A copy to damage. */
const copied = (from = archive): string => {
  const to = join(city.folder, `copy-${++copies}`)
  cpSync(from, to, { recursive: true })
  return to
}
const readingsIn = (folder: string, at = 0): string => {
  const path = catalogueOf(folder).runs[0]?.files[at]?.path
  if (path === undefined) throw new Error(`no file ${at}`)
  return path
}
/** As one who damages a file and hides it: every hash over it is made again. */
function hide(folder: string, path: string): void {
  const catalogue = catalogueOf(folder)
  const [run] = catalogue.runs
  if (run === undefined) throw new Error('no run')
  const bytes = readFileSync(join(folder, path))
  const manifestFile = join(folder, run.manifest)
  const manifest = parseRunManifest(readFileSync(manifestFile, 'utf8'))!
  const renew = <F extends { path: string }>(file: F): F =>
    file.path === path ? { ...file, sha256: sha256(join(folder, path)), bytes: bytes.length } : file
  const changed = {
    ...manifest,
    files: manifest.files.map(renew),
    hashes: manifest.hashes.map(renew),
  }
  writeFileSync(manifestFile, runManifestText(changed))
  const listed = {
    ...run,
    files: changed.files,
    hashes: changed.hashes,
    sha256: sha256(manifestFile),
    bytes: readFileSync(manifestFile).length,
  }
  writeFileSync(
    join(folder, 'catalogue.json'),
    JSON.stringify({ ...catalogue, runs: [listed, ...catalogue.runs.slice(1)] }),
  )
}
type Row = Parameters<Parameters<typeof rewrite>[2]>[0][number]
/** Writes the rows of a file again, changed. */
async function rewrite(
  folder: string,
  path: string,
  change: (
    rows: readonly import('../../operate/archive/reading-columns.ts').ArchivedRow[],
  ) => readonly import('../../operate/archive/reading-columns.ts').ArchivedRow[],
): Promise<void> {
  const file = catalogueOf(folder).runs[0]!.files.find((one) => one.path === path)!
  const rows: Row[] = []
  for await (const row of rowsOf(folder, file)) rows.push(row)
  await putFile(folder, path, async (handle) => {
    const table = tableWriter(handle, readingColumns)
    for (const row of change(rows)) await table.add(row)
    await table.end()
  })
  hide(folder, path)
}

test('a day is archived, and the whole archive proves itself offline', async () => {
  const { code, out, err } = await verified(archive)
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain(`✓ run 1: all ${city.log.written.length} readings of `)
  expect(out).toContain('620 of them are signed by their devices')
  expect(out).toMatch(
    /PROVEN, ON A DEMONSTRATION CHAIN\. All \d+ readings are here .*complete up to/,
  )
  const one = await verified(join(archive, 'runs/run-1.manifest.json'))
  expect([one.code, one.out]).toEqual([0, expect.stringContaining('readings of the run')])
})

test('the rows are those that were accepted, of both leaf versions, by the day of their time', async () => {
  const read: unknown[] = []
  for (const file of catalogueOf(archive).runs[0]!.files)
    for await (const { reading } of rowsOf(archive, file)) {
      expect(new Date(reading.timeMs).toISOString().slice(0, 10)).toBe(file.day)
      read.push(reading)
    }
  const wanted = city.log.written.map(({ arrivedMs: _arrived, signed: _signed, ...reading }) => {
    const { area: _area, flags: _flags, ...leaf1 } = reading
    return reading.leafVersion === 2 ? reading : leaf1
  })
  const inOrder = <R extends { seq: number }>(rows: readonly R[]): R[] =>
    rows.toSorted((a, b) => a.seq - b.seq)
  expect(inOrder(read as { seq: number }[])).toEqual(inOrder(wanted))
})

test('the catalogue’s cursor is the place up to which everything is archived', () => {
  const { cursor, end } = catalogueOf(archive)
  const { position, n } = decodeLogCursor(cursor!)!
  expect({ position, n }).toEqual({ position: end.position, n: end.n })
})

test('making it again gives the same bytes', async () => {
  const again = join(city.folder, 'again')
  await city.archive(again, { withHashes: true })
  expect(filesIn(again)).toEqual(filesIn(archive))
  for (const name of filesIn(again).filter((file) => file !== '.lock'))
    expect([name, sha256(join(again, name))]).toEqual([name, sha256(join(archive, name))])
})

test('when nothing is new, nothing is written', async () => {
  const before = sha256(join(archive, 'catalogue.json'))
  expect((await city.archive(archive)).made).toBeUndefined()
  expect((await city.archive(archive, { isPart: true })).made).toBeUndefined()
  expect(sha256(join(archive, 'catalogue.json'))).toBe(before)
})

describe('is refused, with what is wrong:', () => {
  const refused = async (folder: string): Promise<string> => {
    const { code, out } = await verified(folder)
    return `${code} ${out.includes('REFUSED')} ${out}`
  }

  test('a changed byte', async () => {
    const folder = copied()
    const file = join(folder, readingsIn(folder))
    const bytes = readFileSync(file)
    bytes[1_000]! ^= 1
    writeFileSync(file, bytes)
    expect(await refused(folder)).toMatch(
      /^1 true [^]*part-1\.parquet is another file than .* a byte of it was changed/,
    )
    expect(await refused(join(folder, 'runs/run-1.manifest.json'))).toMatch(
      /^1 true [^]*a byte of it was changed/,
    )
  })

  test('also without a listener for the runs', async () => {
    const folder = copied()
    const tools = { folder, keccak: await createKeccak(), pins: {} }
    await checkArchive(catalogueOf(folder), tools)
    await rewrite(folder, readingsIn(folder), (rows) => rows.slice(1))
    await expect(checkArchive(catalogueOf(folder), tools)).rejects.toThrow('the manifest counts')
  })

  test('a missing file', async () => {
    const folder = copied()
    rmSync(join(folder, readingsIn(folder)))
    expect(await refused(folder)).toMatch(/^1 true [^]*part-1\.parquet is missing/)
  })

  test('two files that were swapped', async () => {
    const folder = copied()
    const [a, b] = [readingsIn(folder, 0), readingsIn(folder, 1)].map((path) => join(folder, path))
    renameSync(a!, `${a}.x`)
    renameSync(b!, a!)
    renameSync(`${a}.x`, b!)
    expect(await refused(folder)).toMatch(
      /^1 true [^]*is another file than the manifest was made for/,
    )
  })

  test('a file that no run vouches for', async () => {
    const folder = copied()
    const path = readingsIn(folder)
    cpSync(join(folder, path), join(folder, path.replace('part-1', 'part-7')))
    expect(await refused(folder)).toMatch(
      /^1 true [^]*part-7\.parquet is in the folder, and the catalogue does not list it/,
    )
  })

  test('a dropped row, though every hash was made again', async () => {
    const folder = copied()
    await rewrite(folder, readingsIn(folder), (rows) => rows.slice(1))
    expect(await refused(folder)).toMatch(/^1 true [^]*has \d+ rows, and the manifest counts \d+/)
  })

  test('a dropped row that the manifest does not count either', async () => {
    const folder = copied()
    const path = readingsIn(folder)
    await rewrite(folder, path, (rows) => rows.slice(1))
    const catalogue = readFileSync(join(folder, 'catalogue.json'), 'utf8')
    const { rows } = catalogueOf(folder).runs[0]!.files[0]!
    const manifestFile = join(folder, 'runs/run-1.manifest.json')
    const fewer = (text: string) => text.replace(`"rows":${rows},`, `"rows":${rows - 1},`)
    writeFileSync(manifestFile, fewer(readFileSync(manifestFile, 'utf8')))
    writeFileSync(
      join(folder, 'catalogue.json'),
      fewer(catalogue).replace(catalogueOf(folder).runs[0]!.sha256, sha256(manifestFile)),
    )
    expect(await refused(folder)).toMatch(
      /^1 true [^]*1 of the \d+ readings of batch \d+ are missing|belongs to no file/,
    )
  })

  test('a changed value', async () => {
    const folder = copied()
    await rewrite(folder, readingsIn(folder), ([first, ...rows]) => [
      {
        ...first!,
        reading: { ...first!.reading, values: [99_900, ...first!.reading.values.slice(1)] },
      },
      ...rows,
    ])
    expect(await refused(folder)).toMatch(
      /^1 true [^]*the rows of batch \d+ do not lead to its root: one was changed|is not signed|is not the hash/,
    )
  })

  test('a reading that is there twice, in place of another', async () => {
    const folder = copied()
    await rewrite(folder, readingsIn(folder), ([first, , ...rows]) => [first!, first!, ...rows])
    expect(await refused(folder)).toMatch(/^1 true [^]*has the number \d+, as another row has/)
  })

  test('a hash in the sidecar that is not its reading’s', async () => {
    const folder = copied()
    const path = catalogueOf(folder).runs[0]!.hashes[0]!.path
    cpSync(join(folder, catalogueOf(folder).runs[0]!.hashes[1]!.path), join(folder, path))
    hide(folder, path)
    expect(await refused(folder)).toMatch(
      /^1 true [^]*hashes\/.* (has \d+ rows, and|is not the hash of its reading)/,
    )
  })

  test.each([
    ['empty', () => Buffer.alloc(0)],
    ['half of it', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['only its end', (bytes: Buffer) => bytes.subarray(-200)],
    ['no parquet', () => Buffer.from('PAR1, or so it says PAR1')],
    ['zeros in its middle', (bytes: Buffer) => Buffer.from(bytes).fill(0, 300, 900)],
    [
      'a footer of 4 GB',
      (bytes: Buffer) => Buffer.from(bytes).fill(0xff, bytes.length - 8, bytes.length - 4),
    ],
  ])('a broken parquet whose hashes were made again: %s', async (_, broken) => {
    const folder = copied()
    const path = readingsIn(folder)
    writeFileSync(join(folder, path), broken(readFileSync(join(folder, path))))
    hide(folder, path)
    const { code, out } = await verified(folder)
    expect([code, out]).toEqual([1, expect.stringContaining('REFUSED')])
  })

  test('a catalogue that leaves the run out, or says another end', async () => {
    const folder = copied()
    const catalogue = catalogueOf(folder)
    const write = (other: object): void =>
      writeFileSync(join(folder, 'catalogue.json'), JSON.stringify({ ...catalogue, ...other }))
    write({ runs: [] })
    expect(await refused(folder)).toMatch(
      /^1 true [^]*the catalogue does not end where its last run does/,
    )
    write({ end: { ...catalogue.end, batch: catalogue.end.batch + 1 } })
    expect(await refused(folder)).toMatch(
      /^1 true [^]*the catalogue does not end where its last run does/,
    )
    writeFileSync(join(folder, 'catalogue.json'), '{"format":"airproof.archive.v1"}')
    const damaged = await verified(folder)
    expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining('is damaged')])
    writeFileSync(join(folder, 'catalogue.json'), '{"format":"airproof.archive.v9"}')
    const newer = await verified(folder)
    expect([newer.code, newer.err]).toEqual([1, expect.stringContaining('airproof.archive.v9')])
  })
})

describe('what goes wrong while it is made', () => {
  test('a row that was changed in the database: nothing is published', async () => {
    const to = join(city.folder, 'altered')
    const altered: Store = {
      ...city.store,
      range: async (...asked) => {
        const rows = await city.store.range(...asked)
        return rows.map((row) => (row.seq % 77 === 0 ? { ...row, aqi: 7 } : row))
      },
    }
    await expect(city.archive(to, { store: altered })).rejects.toThrow(
      /do not lead to its root: one was changed\. The database does not hold what was anchored/,
    )
    expect(existsSync(join(to, 'catalogue.json'))).toBe(false)
    // repaired, it goes on
    expect((await city.archive(to)).made?.run).toBe(1)
  })

  test('a row that is missing in the database', async () => {
    const lacking: Store = {
      ...city.store,
      range: async (...asked) => (await city.store.range(...asked)).slice(1),
    }
    await expect(city.archive(join(city.folder, 'lacking'), { store: lacking })).rejects.toThrow(
      /\d+ of the \d+ readings of batch \d+ are missing/,
    )
  })

  test('two at once: the second one is refused, and both would write the same', async () => {
    const to = join(city.folder, 'two')
    const both = await Promise.allSettled([city.archive(to), city.archive(to)])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const second = both.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    expect(String(second.reason)).toContain('another process writes to the archive')
    expect((await verified(to)).code).toBe(0)
  })
})

describe('a mirror', () => {
  /** Answers from a folder, as any file server with ranges does. */
  async function served(
    folder: string,
    each: (path: string, sent: number) => 'cut' | 'busy' | undefined = () => undefined,
  ) {
    const asked: { path: string; range: string | undefined }[] = []
    const server = createServer((request, response) => {
      const path = decodeURIComponent(request.url ?? '').replace('/archive/', '')
      const { range } = request.headers
      asked.push({ path, range })
      const what = each(path, asked.length)
      if (what === 'busy') {
        response.writeHead(429, { 'retry-after': '0' }).end()
        return
      }
      const bytes = readFileSync(join(folder, path))
      const [, from = '0'] = /bytes=(\d+)-/.exec(range ?? '') ?? []
      const body = bytes.subarray(Number(from))
      response.writeHead(range === undefined ? 200 : 206, { 'content-length': body.length })
      if (what === 'cut') {
        response.write(body.subarray(0, Math.ceil(body.length / 2)))
        setImmediate(() => response.destroy())
      } else response.end(body)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    return {
      url: `http://127.0.0.1:${port}/archive/`,
      asked,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      },
    }
  }
  const mirrored = (url: string, to: string) => runCommand(mirrorCommand, { words: [url, to] })

  test('is a verified copy, and fetches nothing twice', async () => {
    await using from = await served(archive)
    const to = join(city.folder, 'mirror')
    const { code, out } = await mirrored(from.url, to)
    expect([code, out]).toEqual([0, expect.stringContaining('complete up to 2')])
    expect((await verified(to)).code).toBe(0)
    expect(sha256(join(to, 'catalogue.json'))).toBe(sha256(join(archive, 'catalogue.json')))
    from.asked.length = 0
    const again = await mirrored(`${from.url}catalogue.json`, to)
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('nothing new')])
    expect(from.asked.filter(({ path }) => path.endsWith('.parquet'))).toEqual([])
  })

  test('goes on where a connection was cut, after a server that is busy', async () => {
    const target = readingsIn(archive)
    let cuts = 0
    await using from = await served(archive, (path, sent) => {
      if (sent === 1) return 'busy'
      if (path !== target || cuts > 0) return undefined
      cuts++
      return 'cut'
    })
    const { code } = await mirrored(from.url, join(city.folder, 'cut'))
    expect(code).toBe(0)
    const tries = from.asked.filter(({ path }) => path === target)
    expect(tries.map(({ range }) => range)).toEqual([
      undefined,
      expect.stringMatching(/^bytes=[1-9]/),
    ])
  })

  test('refuses a byte that was changed, and keeps nothing of it', async () => {
    const folder = copied()
    const path = readingsIn(folder)
    const bytes = readFileSync(join(folder, path))
    bytes[500]! ^= 1
    writeFileSync(join(folder, path), bytes)
    await using from = await served(folder)
    const to = join(city.folder, 'refused')
    const { code, out } = await mirrored(from.url, to)
    expect([code, out]).toEqual([1, expect.stringContaining('a byte of it was changed')])
    expect(existsSync(join(to, 'catalogue.json'))).toBe(false)
    expect(existsSync(join(to, path))).toBe(false)
  })

  test('refuses a dropped row, though every hash was made again', async () => {
    const folder = copied()
    await rewrite(folder, readingsIn(folder), (rows) => rows.slice(1))
    await using from = await served(folder)
    const { code, out } = await mirrored(from.url, join(city.folder, 'dropped'))
    expect([code, out]).toEqual([1, expect.stringContaining('REFUSED')])
  })

  test('refuses an archive that has another past than the copy', async () => {
    const to = join(city.folder, 'past')
    {
      await using from = await served(archive)
      await mirrored(from.url, to)
    }
    const other = join(city.folder, 'other-past')
    await city.archive(other)
    await using from = await served(other)
    const { code, out } = await mirrored(from.url, to)
    expect([code, out]).toEqual([1, expect.stringContaining('run 1 of the archive is not the one')])
  })

  test('refuses an address that is not an archive', async () => {
    const to = join(city.folder, 'no')
    expect((await mirrored('ftp://x', to)).err).toContain('is not the address')
    const folder = copied()
    writeFileSync(join(folder, 'catalogue.json'), '<html>')
    await using from = await served(folder)
    expect((await mirrored(from.url, to)).err).toContain('is not the catalogue')
    const paths = catalogueOf(archive)
    const [table] = paths.tables
    writeFileSync(
      join(folder, 'catalogue.json'),
      JSON.stringify({
        ...paths,
        format: 'airproof.archive.v1',
        tables: [{ ...table, path: '../../out' }],
      }),
    )
    expect((await mirrored(from.url, to)).err).toContain('is not the catalogue')
  })
})

describe('later', () => {
  test('a reading that is late for an archived day goes into another file of that day', async () => {
    const to = copied()
    const late = { partition: 3, readings: 5, arrivedMs: todayMs - dayMs + 7_777, ...level3 }
    await city.log.write(late)
    await city.settle()
    const { made } = await city.archive(to, { days: 2 })
    expect(made?.run).toBe(2)
    const [first] = catalogueOf(to).runs
    const day = first!.files[0]!.day
    expect(made?.files.map((file) => [file.day, file.rows])).toEqual([[day, 5]])
    expect(made?.files[0]?.path).toMatch(/part-2\.parquet$/)
    const { code, out } = await verified(to)
    expect([code, out]).toEqual([0, expect.stringContaining('✓ run 2: all 5 readings of 1 batch')])
    // a run that is left out shows
    const catalogue = catalogueOf(to)
    writeFileSync(
      join(to, 'catalogue.json'),
      JSON.stringify({ ...catalogue, runs: catalogue.runs.slice(1) }),
    )
    const cut = await verified(to)
    expect([cut.code, cut.out]).toEqual([
      1,
      expect.stringContaining('run 1 is not in the catalogue'),
    ])
  })

  test('where the log was trimmed, the days are found in the database', async () => {
    const { jetstreamManager } = await import('@nats-io/jetstream')
    const manager = await jetstreamManager(city.nc)
    await manager.streams.purge('READINGS', { seq: 5 })
    const to = join(city.folder, 'trimmed')
    const { made } = await city.archive(to, { isPart: true })
    expect(made?.readings).toBe(city.log.written.length)
    expect((await verified(to)).code).toBe(0)
  })
})

describe('the audit reads its rows', () => {
  const audited = (folder: string) =>
    runCommand(auditCommand, {
      flags: { json: true, archive: folder },
      env: { NATS_URL: city.natsUrl, CHAIN_RPC_URL: city.rpc, AIRPROOF_DATA: city.folder },
    })

  test('and all of them are what was anchored', async () => {
    const { code, out } = await audited(archive)
    const { findings, rows } = JSON.parse(out) as AuditReport
    const readings = catalogueOf(archive).runs.reduce((sum, run) => sum + run.readings, 0)
    expect([code, findings]).toEqual([0, []])
    expect(rows).toMatchObject({ looked_at: readings, fit: readings, all: false })
  })

  test('and where there is none it says how to have one', async () => {
    const { code, err } = await audited(city.folder)
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('is not an archive: `airproof mirror`'),
    ])
  })
})
