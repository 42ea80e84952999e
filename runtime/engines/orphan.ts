import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { codeOf, MustAct } from '../exit.ts'

/**
 * Ends the server that a killed supervisor left running, so that its folder is free.
 * @param pidFile written by the server itself
 * @param mark a part of its command line that no other process has, for example its config file
 */
export async function endOrphan(pidFile: string, mark: string): Promise<boolean> {
  const pid = readPid(pidFile)
  const isOurs = (): boolean => pid !== undefined && commandLineOf(pid).includes(mark)
  if (pid === undefined || !isOurs()) return false
  process.kill(pid, 'SIGTERM')
  // a server that ignores the signal is killed after 5 s
  for (let tries = 0; isOurs(); tries++) {
    if (tries === 100) process.kill(pid, 'SIGKILL')
    if (tries === 200)
      throw new MustAct(
        `process ${pid} uses the data folder and cannot be ended: end it, then retry`,
      )
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  rmSync(pidFile, { force: true })
  return true
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8').trim())
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Empty if the process is gone, or the system does not reveal it. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return process.platform === 'linux' || process.platform === 'win32' ? '' : psOf(pid)
  }
}

function psOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}
