import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Environment } from '../settings.ts'

const run = promisify(execFile)
const suffixes = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : ['']

/** The name of a program's file on this system. */
export const programFile = (name: string): string => `${name}${suffixes[0]}`

/** The full path of a program, looked up as a shell would, or undefined. */
export function onPath(name: string, env: Environment): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const candidates = folders.flatMap((folder) =>
    suffixes.map((suffix) => join(folder, name + suffix)),
  )
  return candidates.find(isProgram)
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export type ToolRun = { readonly env: Environment; readonly timeoutMs: number }

/** The output of a program. @throws if it fails, or takes too long */
export async function runTool(
  file: string,
  args: readonly string[],
  { env, timeoutMs }: ToolRun,
): Promise<string> {
  const { stdout } = await run(file, [...args], { env, timeout: timeoutMs, encoding: 'utf8' })
  return stdout
}
