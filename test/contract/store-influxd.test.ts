import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withFileLock } from '../../runtime/engines/file-lock.ts'
import { programFile } from '../../runtime/engines/tools.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { findInfluxd, influxdVersion } from '../support/engines/find-influxd.ts'
import { startInfluxd } from '../support/engines/influxd.ts'

function newFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'airproof-engines-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

/** A program that prints one line; a folder with it can be a PATH. */
function fakeProgram(folder: string, name: string, prints: string): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, programFile(name))
  writeFileSync(file, `#!/bin/sh\necho '${prints}'\n`)
  chmodSync(file, 0o755)
  return file
}

describe('finding an influxd', () => {
  test('on a machine with nothing says in one line what to install', async () => {
    using folder = newFolder()
    const found = await findInfluxd({ env: { PATH: '', XDG_CACHE_HOME: folder.path } })
    expect(found).toHaveProperty('missing')
    const { missing } = found as { missing: string }
    expect(missing).toMatch(/Go .*Rust .*C compiler/)
    expect(missing).toMatch(/INFLUX_URL/)
    expect(missing).not.toMatch(/\n/)
  })

  test.skipIf(process.platform === 'win32')(
    'takes one of version 2 on PATH, never of 1',
    async () => {
      using folder = newFolder()
      const two = join(folder.path, 'two')
      const file = fakeProgram(two, 'influxd', 'InfluxDB v2.7.1 (git: x) build_date: y')
      const one = join(folder.path, 'one')
      fakeProgram(one, 'influxd', 'InfluxDB v1.8.10 (git: x y)')
      const env = { XDG_CACHE_HOME: folder.path }
      expect(await findInfluxd({ env: { ...env, PATH: two } })).toEqual({ path: file })
      expect(await findInfluxd({ env: { ...env, PATH: one } })).toHaveProperty('missing')
    },
  )

  test.skipIf(process.platform === 'win32')('takes the one that was built before', async () => {
    using folder = newFolder()
    const cached = join(folder.path, 'airproof', `influxd-${influxdVersion}`)
    const file = fakeProgram(cached, 'influxd', 'InfluxDB v2.9.1')
    const env = { PATH: '', XDG_CACHE_HOME: folder.path }
    expect(await findInfluxd({ env })).toEqual({ path: file })
  })

  test.skipIf(process.platform === 'win32')(
    'that cannot be built keeps nothing of it and says why',
    async () => {
      using folder = newFolder()
      const tools = join(folder.path, 'tools')
      for (const name of ['go', 'cargo', 'cc']) fakeProgram(tools, name, 'no space left')
      const env = { PATH: tools, XDG_CACHE_HOME: folder.path }
      const notes: string[] = []
      const found = await findInfluxd({ env, note: (line) => notes.push(line) })
      expect(found).toHaveProperty('missing')
      expect(notes[0]).toMatch(/once on this machine/)
      const left = join(folder.path, 'airproof', `influxd-${influxdVersion}`)
      expect([left, `${left}.lock`].filter(existsSync)).toEqual([])
    },
  )

  test.skipIf(process.platform === 'win32')(
    'that does not start tells its last words',
    async () => {
      using folder = newFolder()
      const path = fakeProgram(folder.path, 'influxd', 'the disk is on fire')
      const starting = startInfluxd({
        path,
        folder: join(folder.path, 'data'),
        port: await freePort(),
        env: {},
      })
      await expect(starting).rejects.toThrow(/the disk is on fire/)
    },
  )
})

describe('a file lock', () => {
  test('lets one at a time in', async () => {
    using folder = newFolder()
    const file = join(folder.path, 'lock')
    let inside = 0
    const seen: number[] = []
    const enter = async (): Promise<void> =>
      withFileLock(file, async () => {
        seen.push(++inside)
        await new Promise((resolve) => setImmediate(resolve))
        inside--
      })
    await Promise.all([enter(), enter(), enter()])
    expect(seen).toEqual([1, 1, 1])
    expect(existsSync(file)).toBe(false)
  })

  test('of a process that was killed is taken over', async () => {
    using folder = newFolder()
    const file = join(folder.path, 'lock')
    // a process that is gone: it lived for as long as this call
    const { pid } = spawnSync(process.execPath, ['--version'])
    writeFileSync(file, String(pid))
    expect(await withFileLock(file, () => Promise.resolve('in'))).toBe('in')
  })
})
