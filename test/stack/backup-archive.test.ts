import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command as backupCommand } from '../../cli/backup/backup.ts'
import { filesIn } from '../../cli/backup/local-files.ts'
import { command as restoreCommand } from '../../cli/backup/restore.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import { archivedCity } from '../support/archived-city.ts'
import { signInAs } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('the archive in a backup proves itself where it was restored, and one that is left out is named', async () => {
  await using city = await archivedCity()
  using folder = temporaryFolder()
  const archive = join(city.folder, 'archive')
  expect((await city.archive(archive)).made?.run).toBe(1)
  const env = { NATS_URL: city.natsUrl, ...signInAs('operator'), AIRPROOF_DATA: city.folder }
  const flags = { 'without-secrets': true }
  const backup = (dir: string, more = {}) =>
    runCommand(backupCommand, { words: [dir], flags: { ...flags, ...more }, env })
  const [whole, without] = [join(folder.path, 'whole'), join(folder.path, 'without')]
  expect(await backup(whole)).toMatchObject({ code: 0 })
  const left = await backup(without, { 'without-archive': true })
  expect(left.out).toContain('the archive is not in it')

  const files = filesIn(archive, '.').filter((path) => !path.includes('.lock'))
  const bytes = files.map((path) => [path, readFileSync(join(archive, path), 'base64')])
  expect(files.length).toBeGreaterThan(3)
  await city.nats.kill()
  const restore = (dir: string, data: string) =>
    runCommand(restoreCommand, { words: [dir], flags, env: { AIRPROOF_DATA: data } })
  const data = join(folder.path, 'data')
  expect(await restore(whole, data)).toMatchObject({ code: 0 })
  const restored = join(data, 'archive')
  expect(filesIn(restored, '.').toSorted()).toEqual(files.toSorted())
  expect(files.map((path) => [path, readFileSync(join(restored, path), 'base64')])).toEqual(bytes)
  const verified = await runCommand(verifyCommand, {
    words: [restored],
    env: { CHAIN_RPC_URL: city.rpc },
  })
  expect(verified).toMatchObject({ code: 0 })

  const next = await restore(without, join(folder.path, 'next'))
  expect(next.out).toContain('the archive is not in the backup: put it back before you start')

  // a file of it that was lost in the backup
  const lost = files.find((path) => path.endsWith('.parquet')) ?? ''
  rmSync(join(whole, 'archive', lost))
  const broken = await restore(whole, join(folder.path, 'broken'))
  expect(broken.err).toContain(`archive/${lost.replace('./', '')} of the backup`)
})
