import { randomBytes } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { codeOf } from '../exit.ts'
import type { Environment } from '../settings.ts'

/** The user's folder for engines, which are fetched once per machine. */
export function cacheFolder(env: Environment): string {
  const base = env['XDG_CACHE_HOME'] ?? join(env['HOME'] ?? homedir(), '.cache')
  return join(base, 'airproof')
}

/**
 * Makes `folder` by filling another next to it and renaming that, so that no process sees an
 * incomplete one: not after a kill, and not if two processes fetch at once (the first one's stays,
 * they are equal).
 * @param fill puts everything into the folder it receives; if it throws, nothing is left
 */
export async function makeOnce(
  folder: string,
  fill: (aside: string) => Promise<void>,
): Promise<void> {
  const aside = `${folder}.${randomBytes(4).toString('hex')}`
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  await mkdir(aside)
  try {
    await fill(aside)
    await rename(aside, folder)
  } catch (error) {
    const isThere = ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(codeOf(error) ?? '')
    if (!isThere) throw error
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}
