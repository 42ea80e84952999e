import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The project as it is now, what is not committed included, with `node_modules` linked. */
export function copiedTree(root: string): Disposable & { readonly path: string } {
  const folder = temporaryFolder()
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  for (const file of files.split('\0').filter((name) => name !== '')) {
    const from = join(root, file)
    if (!existsSync(from)) continue
    mkdirSync(dirname(join(folder.path, file)), { recursive: true })
    copyFileSync(from, join(folder.path, file))
  }
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'), 'junction')
  return folder
}

/** The same again, with what was built in it. */
export function copyOf(path: string): Disposable & { readonly path: string } {
  const folder = temporaryFolder()
  cpSync(path, folder.path, { recursive: true, verbatimSymlinks: true })
  return folder
}
