import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cacheFolder, makeOnce } from '../../runtime/engines/engine-cache.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('two processes that fetch at once leave one complete folder', async () => {
  using folder = temporaryFolder()
  const wanted = join(folder.path, 'engine-1')
  const fill = async (aside: string) => writeFileSync(join(aside, 'program'), 'whole')
  await Promise.all([makeOnce(wanted, fill), makeOnce(wanted, fill)])
  expect(readdirSync(folder.path)).toEqual(['engine-1'])
  expect(readFileSync(join(wanted, 'program'), 'utf8')).toBe('whole')
})

test('a fetch that fails half-way leaves nothing', async () => {
  using folder = temporaryFolder()
  const fill = async (aside: string) => {
    writeFileSync(join(aside, 'program'), 'half')
    throw new Error('the line is cut')
  }
  await expect(makeOnce(join(folder.path, 'engine-1'), fill)).rejects.toThrow('the line is cut')
  expect(readdirSync(folder.path)).toEqual([])
})

test.each([
  [{ XDG_CACHE_HOME: '/c', HOME: '/h' }, join('/c', 'airproof')],
  [{ HOME: '/h' }, join('/h', '.cache', 'airproof')],
])('the cache of %j is %s', (env, folder) => expect(cacheFolder(env)).toBe(folder))
