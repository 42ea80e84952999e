import { execFile } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openSpool as openOrNot, type Spool } from '../../gate/push/spool.ts'
import { parseSpoolLine, spoolLine } from '../../gate/push/spool-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const big = 1024 * 1024

async function openSpool(options: Parameters<typeof openOrNot>[0]): Promise<Spool> {
  const spool = await openOrNot(options)
  if (spool === undefined) throw new Error('another process has the folder')
  return spool
}
const waiting = (number: number) => ({ sensor: 'NGR-LOS-IKJ-001', body: `{"pm25":${number}}` })
const logsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .toSorted()

async function drain(spool: Spool) {
  const bodies: string[] = []
  let damaged = 0
  for (let found = await spool.oldest(); found !== undefined; found = await spool.oldest()) {
    bodies.push(...found.waiting.map(({ body }) => body))
    damaged += found.damaged
    await spool.remove(found)
  }
  return { bodies, damaged }
}
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => waiting(i).body)

test('what was appended comes back in order, over many segments and a restart', async () => {
  using folder = temporaryFolder()
  const options = { folder: folder.path, maxBytes: big, segmentBytes: 200, nowMs: () => 1_000 }
  const first = await openSpool(options)
  for (let i = 0; i < 20; i++) expect(await first.append(waiting(i))).toBe(true)
  expect(first.sinceMs()).toBe(1_000)
  await first[Symbol.asyncDispose]()
  expect(logsIn(folder.path).length).toBeGreaterThan(3)
  await using second = await openSpool({ ...options, nowMs: () => 5 })
  for (let i = 20; i < 25; i++) await second.append(waiting(i))
  expect(await drain(second)).toEqual({ bodies: numbered(25), damaged: 0 })
  expect(second.bytes()).toBe(0)
  expect(second.sinceMs()).toBeUndefined()
  expect(logsIn(folder.path)).toEqual([])
})

test('those that wait at the same moment share a write, and none is lost', async () => {
  using folder = temporaryFolder()
  await using spool = await openSpool({ folder: folder.path, maxBytes: big })
  const appended = await Promise.all(
    Array.from({ length: 500 }, (_, i) => spool.append(waiting(i))),
  )
  expect(appended.every(Boolean)).toBe(true)
  expect(await drain(spool)).toEqual({ bodies: numbered(500), damaged: 0 })
})

test('it is on the disk when append resolves', async () => {
  using folder = temporaryFolder()
  await using spool = await openSpool({ folder: folder.path, maxBytes: big })
  await spool.append(waiting(7))
  const [name = ''] = logsIn(folder.path)
  expect(readFileSync(join(folder.path, name), 'utf8')).toBe(spoolLine(waiting(7)))
})

test('a line that a crash cut is skipped, the others are not', async () => {
  using folder = temporaryFolder()
  const options = { folder: folder.path, maxBytes: big }
  const first = await openSpool(options)
  await first.append(waiting(0))
  await first[Symbol.asyncDispose]()
  const [name = ''] = logsIn(folder.path)
  appendFileSync(join(folder.path, name), spoolLine(waiting(1)).slice(0, -6))
  await using second = await openSpool(options)
  await second.append(waiting(2))
  const expected = { bodies: [waiting(0).body, waiting(2).body], damaged: 1 }
  expect(await drain(second)).toEqual(expected)
})

test('it never grows beyond its bound, with what waits to be written counted', async () => {
  using folder = temporaryFolder()
  const length = Buffer.byteLength(spoolLine(waiting(0)))
  await using spool = await openSpool({ folder: folder.path, maxBytes: 3 * length })
  const appended = await Promise.all([0, 1, 2, 3, 4].map((i) => spool.append(waiting(i))))
  expect(appended).toEqual([true, true, true, false, false])
  expect(spool.bytes()).toBe(3 * length)
  expect((await drain(spool)).bodies).toEqual(numbered(3))
  expect(await spool.append(waiting(9))).toBe(true)
})

test('what is appended while a segment is being sent is not deleted with it', async () => {
  using folder = temporaryFolder()
  await using spool = await openSpool({ folder: folder.path, maxBytes: big })
  await spool.append(waiting(0))
  const segment = await spool.oldest()
  await spool.append(waiting(1))
  if (segment) await spool.remove(segment)
  expect((await drain(spool)).bodies).toEqual([waiting(1).body])
})

test('a folder has one holder at a time', async () => {
  using folder = temporaryFolder()
  const options = { folder: folder.path, maxBytes: big }
  const first = await openSpool(options)
  expect(await openOrNot(options)).toBeUndefined()
  await first[Symbol.asyncDispose]()
  await using _second = await openSpool(options)
})

test('a disk that takes no more is left with no file of what it refused', async () => {
  using folder = temporaryFolder()
  // a process whose files end at 4 KiB, and which gets an error instead of being killed
  const script = `
    const { openSpool } = await import(process.argv[1])
    const spool = await openSpool({ folder: process.argv[2], maxBytes: 1e9 })
    await spool.append({ sensor: 'A', body: '1' })
    const long = { sensor: 'A', body: 'x'.repeat(5_000) }
    for (let i = 0; i < 50; i++) {
      const refused = await spool.append(long).then(() => false, ({ code }) => code === 'EFBIG')
      if (!refused) process.exit(1)
    }
    await spool.append({ sensor: 'A', body: '2' })
    process.exit(0)`
  const file = fileURLToPath(import.meta.resolve('../../gate/push/spool.ts'))
  const limited = `trap '' XFSZ; ulimit -f 4; exec "$@"`
  const { execPath } = process
  const child = [execPath, '--input-type=module', '-e', script, file, folder.path]
  await promisify(execFile)('bash', ['-c', limited, 'bash', ...child])
  expect(logsIn(folder.path)).toHaveLength(2)
  await using spool = await openSpool({ folder: folder.path, maxBytes: big })
  expect(await drain(spool)).toEqual({ bodies: ['1', '2'], damaged: 0 })
})

test('other files of the folder are left alone', async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'notes.log'), 'mine')
  await using spool = await openSpool({ folder: folder.path, maxBytes: big })
  expect(spool.bytes()).toBe(0)
  expect(await spool.oldest()).toBeUndefined()
})

test('a line reads as it was written, and no damaged one does', () => {
  const body = fc.jsonValue().map((value) => JSON.stringify(value))
  fc.assert(
    fc.property(body, fc.nat(), (text, at) => {
      const line = spoolLine({ sensor: 'NGR-LOS-IKJ-001', body: text }).slice(0, -1)
      expect(parseSpoolLine(line)).toEqual({ sensor: 'NGR-LOS-IKJ-001', body: text })
      expect(parseSpoolLine(line.slice(0, at % line.length))).toBeUndefined()
    }),
  )
})
