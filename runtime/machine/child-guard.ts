/**
 * Ends a program that we started when we die, however we die: a shell waits for a line on a pipe
 * that only we hold. The system closes it with us, and soon after the shell sends SIGTERM. Windows has
 * no such shell: there the next start ends what was left over (`engines/orphan.ts`).
 */
import { spawn } from 'node:child_process'

/** Meanwhile our own processes stop in order, for which they need NATS. */
const graceSeconds = 3
const script = `read -r _ || { sleep ${graceSeconds}; kill -TERM "$0"; }`

/** @param ended resolves when the program is gone: its pid may then be reused, so the guard ends too */
export function guardChild(pid: number, ended: Promise<unknown>): void {
  if (process.platform === 'win32') return
  const guard = spawn('/bin/sh', ['-c', script, String(pid)], {
    // a Ctrl-C in the terminal is not for it
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // without a guard, only a kill -9 of this process leaves the program running, until the next start
  guard.on('error', () => undefined)
  guard.stdin.on('error', () => undefined)
  guard.unref()
  void ended.then(() => guard.stdin.end('ended\n'))
}
