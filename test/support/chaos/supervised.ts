import type { Child } from '../../../runtime/machine/child.ts'

type Process = Child & { readonly printed: () => readonly string[] }

export type Supervised<P extends Process> = AsyncDisposable & {
  readonly current: () => P
  /** SIGKILL; it is restarted as soon as it is gone. */
  readonly kill: () => void
  readonly starts: () => number
  /** Exits that the test did not cause: the code, and its last line. */
  readonly ownExits: () => readonly string[]
}

/** Whenever it is gone, it is restarted. */
export async function supervise<P extends Process>(
  start: () => Promise<P>,
): Promise<Supervised<P>> {
  let current = await start()
  let starts = 1
  let isOver = false
  const ownExits: string[] = []
  const watching = (async () => {
    for (;;) {
      const { code, signal } = await current.exited
      if (isOver) return
      if (signal === null) ownExits.push(`${code}: ${current.printed().at(-1)}`)
      if (code === 1) throw new Error(`the process gave up: ${current.printed().join('\n')}`)
      current = await start()
      starts++
    }
  })()
  watching.catch(() => undefined)
  return {
    current: () => current,
    kill: () => current.kill('SIGKILL'),
    starts: () => starts,
    ownExits: () => ownExits,
    [Symbol.asyncDispose]: async () => {
      isOver = true
      await current.stop()
      await watching
      // one that was starting when the test ended
      await current.stop()
    },
  }
}
