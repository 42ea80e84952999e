/** The processes of release 0.1, on the libraries of today; koa-body is a development dependency for them alone. */
import { execFileSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The commit of release 0.1. */
const commit = '4429ff7'

/** Why it is not available here; undefined: it is. */
export function whyNoFormerVersion(): string | undefined {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{tree}`], { stdio: 'ignore' })
    return undefined
  } catch {
    return `git does not have commit ${commit} here: a clone with its whole history does`
  }
}

/** Puts the files of 0.1 into the folder. @returns its program */
export function checkOutFormerVersion(folder: string): string {
  const archive = execFileSync('git', ['archive', commit], { maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const program = join(folder, 'bin', 'airproof.mjs')
  if (!existsSync(program)) throw new Error(`there is no ${program}`)
  return program
}
