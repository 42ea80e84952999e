import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { givenUp, StoreUnavailable } from '../store.ts'
import {
  type Answer,
  type CallName,
  giveUp,
  type Notice,
  noneGivenUp,
  type SqliteCalls,
  type WorkerData,
  type WorkerOptions,
} from './calls.ts'
import { errorOf } from './fault.ts'

/** One worker thread and its connection; calls are answered in the order they are made. */
export type SqliteLane = AsyncDisposable & {
  readonly call: <Name extends CallName>(
    name: Name,
    args: Parameters<SqliteCalls[Name]>,
    how?: How,
  ) => Promise<ReturnType<SqliteCalls[Name]>>
}

type How = {
  readonly transfer?: readonly ArrayBuffer[]
  /** The caller has given up: the call is skipped, or ended where possible; it is still answered. */
  readonly signal?: AbortSignal | undefined
}

type Waiting = {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}

/** The thread starts at the first call, and again at the next one after it has died. */
export function openSqliteLane(
  options: WorkerOptions,
  onNotice: (line: string) => void = () => undefined,
): SqliteLane {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let closed = false
  let lastId = 0
  const dropped = noneGivenUp()

  const start = (): Worker => {
    const started = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { ...options, givenUp: dropped } satisfies WorkerData,
    })
    started.on('message', (answer: Answer | Notice) => {
      if ('notice' in answer) return onNotice(answer.notice)
      const call = waiting.get(answer.id)
      waiting.delete(answer.id)
      // the id ties the answer to its call, which the types cannot see
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      if (answer.ok) call?.resolve(answer.value as never)
      else call?.reject(errorOf(answer.fault))
    })
    let cause: unknown
    started.on('error', (error) => {
      cause = error
    })
    started.on('exit', () => {
      if (worker === started) worker = undefined
      for (const { reject } of waiting.values()) {
        reject(new StoreUnavailable(`the thread of ${options.file} ended`, { cause }))
      }
      waiting.clear()
    })
    return started
  }

  return {
    call: async (name, args, { transfer = [], signal } = {}) => {
      if (closed) throw new Error(`the store ${options.file} is closed`)
      if (signal?.aborted) throw givenUp()
      worker ??= start()
      const id = ++lastId
      const { promise, resolve, reject } = Promise.withResolvers<never>()
      waiting.set(id, { resolve, reject })
      const onAbort = (): void => giveUp(dropped, id)
      signal?.addEventListener('abort', onAbort, { once: true })
      worker.postMessage({ id, name, args }, transfer)
      try {
        return await promise
      } finally {
        signal?.removeEventListener('abort', onAbort)
      }
    },
    [Symbol.asyncDispose]: async () => {
      if (closed) return
      closed = true
      if (worker === undefined) return
      // after the earlier calls, which are still answered
      worker.postMessage('close')
      await once(worker, 'exit')
    },
  }
}
