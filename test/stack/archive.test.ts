/** The archive of a network with both leaf versions: made, verified, and read by other programs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command as verifyCommand } from '../../cli/verify.ts'
import { type ArchivedCity, archivedCity } from '../support/archived-city.ts'
import { runCommand } from '../support/run-command.ts'

const opened = new AsyncDisposableStack()
let city: ArchivedCity
let archive: string

beforeAll(async () => {
  city = opened.use(await archivedCity())
  archive = join(city.folder, 'archive')
})
afterAll(() => opened.disposeAsync())

const verified = (words: string) => runCommand(verifyCommand, { words: [words] })

test('a day is archived, and the whole archive proves itself offline', async () => {
  const { made } = await city.archive(archive)
  expect(made?.readings).toBe(city.log.written.length)
  const { code, out, err } = await verified(archive)
  expect([code, err, out]).toEqual([0, '', expect.stringContaining('complete up to')])
  expect(readFileSync(join(archive, 'catalogue.json'), 'utf8')).toContain('part-1.parquet')
})
