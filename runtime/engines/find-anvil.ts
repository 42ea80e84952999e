import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../settings.ts'
import { runTool } from './tools.ts'

/** npm installs it for one platform; elsewhere the machine's own is used. */
const packages = ['@foundry-rs/anvil-linux-amd64']

/** @returns the command, or undefined if no anvil is available */
export async function findAnvil(env: Environment): Promise<string | undefined> {
  const candidates = [...packages.flatMap(programOf), 'anvil']
  for (const command of candidates) {
    const words = await runTool(command, ['--version'], { env, timeoutMs: 10_000 }).catch(() => '')
    if (words.startsWith('anvil ')) return command
  }
  return undefined
}

function programOf(name: string): string[] {
  try {
    const program = fileURLToPath(new URL('bin/anvil', import.meta.resolve(`${name}/package.json`)))
    return existsSync(program) ? [program] : []
  } catch {
    // optional: not installed on this platform
    return []
  }
}
