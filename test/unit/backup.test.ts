import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkFiles, openBackupFolder, refuseNested } from '../../cli/backup/backup-folder.ts'
import { openFilesIn, secretFilesIn } from '../../cli/backup/local-files.ts'
import { type Manifest, manifestFile, readManifest } from '../../cli/backup/manifest.ts'
import { openFiles, sealFiles } from '../../cli/backup/seal-files.ts'
import { MustAct } from '../../runtime/exit.ts'
import { tableNumber } from '../../runtime/nats/streams/stream-table.ts'
import { ourVersion } from '../../runtime/version.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const nothing = (): void => undefined

const manifest: Omit<Manifest, 'files'> = {
  format: 'airproof.backup.v1',
  airproof: '0.2.0',
  table: tableNumber,
  level: 3,
  network: 'abcdefabcdef',
  started_at: '2026-11-23T10:00:00.000Z',
  finished_at: '2026-11-23T10:00:05.000Z',
  until: {
    time: '2026-11-23T10:00:03.000Z',
    sequence: 7,
    readings: 5,
    partitions: [5, ...Array<number>(15).fill(0)],
  },
  received_until: '2026-11-23T10:00:04.000Z',
  original: { nats: 'nats://127.0.0.1:4222', folder: '/srv/air', host: 'a' },
  store: 'sqlite',
  archive: 'none',
  anchoring: { deployments: [], sealed: 0 },
  streams: [],
}

async function finishedIn(folder: string): Promise<Manifest> {
  const backup = openBackupFolder(folder, nothing, nothing)
  await backup.put('streams/RAW_0.tar.s2', async ({ write, reset }) => {
    await write(Buffer.from('of a copy that was given up'))
    await reset()
    await write(Buffer.from('whole'))
  })
  return backup.finish(manifest)
}

describe('the folder of a backup', () => {
  test('a finished one is read as it was written, with the hashes of its files', async () => {
    using folder = temporaryFolder()
    const written = await finishedIn(folder.path)
    expect(readManifest(folder.path)).toEqual(written)
    expect(written.files.map(({ path, bytes }) => [path, bytes])).toEqual([
      ['streams/RAW_0.tar.s2', 5],
    ])
    await checkFiles(folder.path, written, nothing)
  })

  test('one that was interrupted is refused in words, and the next backup begins it again', async () => {
    using folder = temporaryFolder()
    const began = openBackupFolder(folder.path, nothing, nothing)
    await began.put('streams/EVENTS.tar.s2', ({ write }) => write(Buffer.from('half')))
    expect(() => readManifest(folder.path)).toThrow(
      `the backup in ${folder.path} was interrupted, so it cannot be restored: run \`airproof backup ${folder.path}\` again`,
    )
    const notes: string[] = []
    openBackupFolder(folder.path, (line) => notes.push(line), nothing)
    expect(notes).toEqual([
      `the backup in ${folder.path} was interrupted: it is removed, and begins again`,
    ])
    expect(readdirSync(folder.path)).toEqual(['unfinished'])
  })

  test('a finished backup, and a folder with anything else in it, are not written over', async () => {
    using folder = temporaryFolder()
    const [backup, other] = [join(folder.path, 'backup'), join(folder.path, 'other')]
    await finishedIn(backup)
    expect(() => openBackupFolder(backup, nothing, nothing)).toThrow('holds a finished backup')
    mkdirSync(other)
    writeFileSync(join(other, 'letter'), 'dear')
    expect(() => openBackupFolder(other, nothing, nothing)).toThrow('is not empty')
    expect(readFileSync(join(other, 'letter'), 'utf8')).toBe('dear')
    expect(() => readManifest(other)).toThrow('holds no backup')
  })

  test.each([
    ['/srv/air/backup', '/srv/air'],
    ['/srv/air', '/srv/air/backup'],
    ['/srv/air', '/srv/air/'],
  ])('backup %s and data folder %s are one within the other', (backup, dataFolder) => {
    expect(() => refuseNested(backup, dataFolder)).toThrow('one within the other')
    expect(() => refuseNested(`${backup}-2`, dataFolder.replace('/srv', '/var'))).not.toThrow()
  })

  test('a folder whose name begins like the data folder is outside it', () => {
    expect(() => refuseNested('/srv/air-backup', '/srv/air')).not.toThrow()
  })

  test('a later version is refused by a sentence that names both', async () => {
    using folder = temporaryFolder()
    const written = await finishedIn(folder.path)
    const file = join(folder.path, manifestFile)
    const later = [
      { format: 'airproof.backup.v2' },
      { table: tableNumber + 1 },
      { level: 4 },
      { format: 'airproof.backup.v2', until: undefined, new: 1 },
    ]
    for (const change of later) {
      writeFileSync(file, JSON.stringify({ ...written, airproof: '9.1.0', ...change }))
      expect(() => readManifest(folder.path)).toThrow(
        `was made by airproof 9.1.0, and this is airproof ${ourVersion()}, which does not know its formats`,
      )
    }
    writeFileSync(file, JSON.stringify(written).slice(0, -20))
    expect(() => readManifest(folder.path)).toThrow('was changed or damaged')
  })

  test('a changed byte and a missing file are found before anything is restored', async () => {
    using folder = temporaryFolder()
    const written = await finishedIn(folder.path)
    const file = join(folder.path, 'streams/RAW_0.tar.s2')
    writeFileSync(file, 'whOle')
    await expect(checkFiles(folder.path, written, nothing)).rejects.toThrow(
      /RAW_0\.tar\.s2 of the backup in .* was changed or damaged: nothing was restored/,
    )
    const missing = { files: [{ path: 'gone', bytes: 1, sha256: '' }] }
    await expect(checkFiles(folder.path, missing, nothing)).rejects.toThrow('is missing')
  })
})

describe('secrets', () => {
  const files = new Map([
    ['anchor.key', Buffer.from('ab'.repeat(32))],
    ['keys/a', Buffer.from([0, 255, 10])],
  ])

  test('open with the passphrase, byte for byte, and hold no text of theirs', () => {
    const sealed = sealFiles(files, 'correct horse battery')
    expect(openFiles(sealed, 'correct horse battery')).toEqual(files)
    expect(sealed.includes('anchor.key')).toBe(false)
    expect(sealed.includes(Buffer.from('ab'.repeat(8)))).toBe(false)
  })

  test('do not open with another passphrase, nor if any byte was changed', () => {
    const sealed = sealFiles(files, 'correct horse battery')
    expect(() => openFiles(sealed, 'correct horse batterz')).toThrow(MustAct)
    for (const at of [3, 60, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => openFiles(changed, 'correct horse battery')).toThrow(MustAct)
    }
  })

  test('are all files of the data folder that are not known to be something else', () => {
    using folder = temporaryFolder()
    const put = (path: string): void => {
      mkdirSync(join(folder.path, path, '..'), { recursive: true })
      writeFileSync(join(folder.path, path), path)
    }
    for (const secret of ['nats-access.json', 'secret-key', 'demonstration-keys/a', 'of-mine.pem'])
      put(secret)
    for (const open of ['push-spool/000000000000001.log', 'nats-port', 'mail/1.eml']) put(open)
    for (const made of [
      'nats/streams/a',
      'ready.json',
      'up.lock',
      'readings.sqlite-wal',
      'push-spool/lock',
      'archive/x',
      'chain/state.json',
      'instances/pipeline',
    ])
      put(made)
    expect([...secretFilesIn(folder.path).keys()].toSorted()).toEqual([
      'demonstration-keys/a',
      'nats-access.json',
      'of-mine.pem',
      'secret-key',
    ])
    expect(openFilesIn(folder.path).toSorted()).toEqual([
      'mail/1.eml',
      'nats-port',
      'push-spool/000000000000001.log',
    ])
    expect(secretFilesIn(join(folder.path, 'missing')).size).toBe(0)
  })
})
