/**
 * Input from outside is handled one piece after the other, and handling a piece may fail for a
 * reason that we did not foresee. The error then ends here: it is counted, the log names the piece,
 * and the next piece is taken. A device that hits such a fault can neither stop a loop nor fill a
 * log.
 */
import type { Logger } from '../runtime/log.ts'
import { quietRepeats } from '../runtime/quiet-repeats.ts'

/** The loops of the gate that take input from outside. */
export type InputLoop = 'topics' | 'push' | 'spool' | 'sign_in' | 'publish' | 'server'

export type InputGuard = {
  /** Handling failed. @param piece which one it was, in fields of the log; no secrets */
  readonly failed: (
    loop: InputLoop,
    error: unknown,
    piece?: Readonly<Record<string, unknown>>,
  ) => void
  /** A callback that never throws into its caller. */
  readonly callback: <Arguments extends readonly unknown[]>(
    loop: InputLoop,
    handle: (...given: Arguments) => void,
  ) => (...given: Arguments) => void
}

type Options = {
  readonly count: (loop: InputLoop) => void
  readonly log: Pick<Logger, 'error'>
  /** A clock that never goes back, ms. */
  readonly nowMs?: () => number
}

export function inputGuard({ count, log, nowMs = () => performance.now() }: Options): InputGuard {
  const repeats = quietRepeats()
  const failed: InputGuard['failed'] = (loop, error, piece = {}) => {
    count(loop)
    const heldBack = repeats.show(loop, nowMs())
    if (heldBack === undefined) return
    const more = heldBack === 0 ? {} : { notShown: heldBack }
    log.error(
      { err: error, loop, ...piece, ...more },
      'this input could not be handled and is skipped: this is a fault of airproof, please report it',
    )
  }
  return {
    failed,
    callback:
      (loop, handle) =>
      (...given) => {
        try {
          handle(...given)
        } catch (error) {
          failed(loop, error)
        }
      },
  }
}
