import { mkdirSync } from 'node:fs'
import { runTool } from '../../runtime/engines/tools.ts'
import { environment } from '../../runtime/process/config.ts'

export type SmallDisk = AsyncDisposable & {
  /** @param size as mount takes it, for example `8m` */
  readonly grow: (size: string) => Promise<void>
}

const run = (tool: string, args: readonly string[]) =>
  runTool(tool, args, { env: environment(), timeoutMs: 5_000 })

/** A file system of its own in a new folder; undefined: only root may mount one. */
export async function smallDisk(folder: string, size: string): Promise<SmallDisk | undefined> {
  mkdirSync(folder)
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  } catch {
    return undefined
  }
  return {
    grow: async (to) => void (await run('mount', ['-o', `remount,size=${to}`, folder])),
    [Symbol.asyncDispose]: async () => void (await run('umount', [folder])),
  }
}
