/**
 * When to stop: the first SIGINT, SIGTERM or SIGHUP, or the end of what supervises or reads us. A second
 * signal ends the process at once, with the exit code that the shell gives a killed process.
 */
import { constants } from 'node:os'
import { codeOf } from '../exit.ts'

/**
 * Ctrl-C reaches a process from the terminal and once more from whatever passed it on (npm,
 * our own launcher), so repeats within this time are the same wish.
 */
const echoMs = 300

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

type StopName = (typeof names)[number] | 'orphaned' | 'unread'

/**
 * Aborted with the reason's name as `reason`. Listens until the process ends.
 * @param outputs when one of them is closed by its reader (`airproof up | head`), that is a reason too
 */
export function stopSignal(outputs: readonly NodeJS.WriteStream[] = []): AbortSignal {
  const stop = new AbortController()
  let firstAtMs: number | undefined
  const heard = (name: StopName): void => {
    const nowMs = performance.now()
    if (firstAtMs === undefined) {
      firstAtMs = nowMs
      stop.abort(name)
    } else if (name !== 'orphaned' && name !== 'unread' && nowMs - firstAtMs > echoMs) {
      process.exit(128 + constants.signals[name])
    }
  }
  for (const name of names) process.on(name, () => heard(name))
  for (const output of outputs)
    output.on('error', (error) => {
      if (codeOf(error) !== 'EPIPE') throw error
      heard('unread')
    })
  // A supervisor that was killed cannot tell us to stop: its end of the channel closes.
  if (process.channel) {
    process.once('disconnect', () => heard('orphaned'))
    process.channel.unref()
  }
  return stop.signal
}

/** Resolves when `stop` is aborted. */
export async function stopped(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return
  await new Promise<void>((resolve) =>
    stop.addEventListener('abort', () => resolve(), { once: true }),
  )
}
