/**
 * When to stop: at the first SIGINT, SIGTERM or SIGHUP, or when the supervisor or the reader of our
 * output is gone. A second signal ends the process at once, with the exit code that a shell gives a
 * killed process.
 */
import { constants } from 'node:os'
import { codeOf } from '../exit.ts'

/**
 * Ctrl-C reaches a process from the terminal and once more from a parent that forwards it (npm, our
 * own launcher), so repeats within this time count as one.
 */
const echoMs = 300

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

type StopName = (typeof names)[number] | 'orphaned' | 'unread'

/**
 * Aborted with the reason's name as `reason`. Listens until the process exits.
 * @param outputs also a reason when the reader closes one of them (`airproof up | head`)
 */
export function stopSignal(outputs: readonly NodeJS.WriteStream[] = []): AbortSignal {
  const stop = new AbortController()
  let firstAtMs: number | undefined
  const onReason = (name: StopName): void => {
    const nowMs = performance.now()
    if (firstAtMs === undefined) {
      firstAtMs = nowMs
      stop.abort(name)
    } else if (name !== 'orphaned' && name !== 'unread' && nowMs - firstAtMs > echoMs) {
      process.exit(128 + constants.signals[name])
    }
  }
  for (const name of names) process.on(name, () => onReason(name))
  for (const output of outputs)
    output.on('error', (error) => {
      if (codeOf(error) !== 'EPIPE') throw error
      onReason('unread')
    })
  // a killed supervisor cannot send a signal, but its end of the channel closes
  if (process.channel) {
    process.once('disconnect', () => onReason('orphaned'))
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
