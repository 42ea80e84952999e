import { readFileSync } from 'node:fs'
import { codeOf } from './exit.ts'

/** The version in package.json, which is part of every installation. */
export const ourVersion = (): string => aboutUs().version

/** Our package.json; `release/build.ts` writes the commit into that of a package. */
function aboutUs(): { readonly version: string; readonly commit?: string } {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
  return JSON.parse(text) as { version: string; commit?: string }
}

const gitFile = (name: string): string | undefined => {
  try {
    return readFileSync(new URL(`../.git/${name}`, import.meta.url), 'utf8').trim()
  } catch (error) {
    // no checkout, or a worktree, whose .git is a file
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** The commit that was packed, or is checked out; undefined: this is neither. */
export function ourCommit(): string | undefined {
  const { commit } = aboutUs()
  if (commit !== undefined) return commit
  const head = gitFile('HEAD')
  const ref = head?.replace(/^ref: /, '')
  if (head === ref || ref === undefined) return head
  const packed = (): string | undefined =>
    gitFile('packed-refs')
      ?.split('\n')
      .find((line) => line.endsWith(` ${ref}`))
  return (gitFile(ref) ?? packed())?.slice(0, 40)
}
