import { Worker } from 'node:worker_threads'
import { BoundedMap } from '../../../core/bounded-map.ts'
import { minuteMs } from '../../../core/time.ts'
import { away } from '../refusal.ts'

type Options = {
  readonly nowMs: () => number
  /** Pictures that are kept; the one drawn first is forgotten. About 30 kB each. */
  readonly most?: number
  /** Pictures that wait to be drawn; more are refused. */
  readonly mostWaiting?: number
}

export type Draw = AsyncDisposable & {
  /**
   * The picture under a name, drawn unless one of the last five minutes is kept.
   * @throws Refusal 503 when too many wait
   */
  readonly png: (name: string, svg: () => string) => Promise<Buffer>
}

const freshMs = 5 * minuteMs
type Drawn = { readonly madeMs: number; readonly png: Promise<Buffer> }
type Answer = { readonly id: number; readonly png?: Uint8Array; readonly error?: string }

export function openDraw({ nowMs, most = 200, mostWaiting = 16 }: Options): Draw {
  const kept = new BoundedMap<string, Drawn>(most)
  const waiting = new Map<number, PromiseWithResolvers<Buffer>>()
  let worker: Worker | undefined
  let last = 0
  const fail = (error: unknown): void => {
    worker = undefined
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  /** Begun with the first picture: a network whose links nobody shares needs none. */
  const begun = (): Worker => {
    if (worker !== undefined) return worker
    const next = new Worker(new URL('./draw-worker.ts', import.meta.url))
    next.unref()
    next.on('message', ({ id, png, error }: Answer) => {
      const asked = waiting.get(id)
      waiting.delete(id)
      if (png === undefined) asked?.reject(new Error(error ?? 'the picture was not drawn'))
      else asked?.resolve(Buffer.from(png))
    })
    next.on('error', fail)
    worker = next
    return next
  }
  const draw = async (svg: string): Promise<Buffer> => {
    if (waiting.size >= mostWaiting) throw away('busy', 'too many pictures wait to be drawn')
    const asked = Promise.withResolvers<Buffer>()
    const id = ++last
    waiting.set(id, asked)
    begun().postMessage({ id, svg })
    return await asked.promise
  }
  return {
    png: async (name, svg) => {
      const known = kept.get(name)
      if (known !== undefined && nowMs() - known.madeMs < freshMs) return await known.png
      const png = draw(svg())
      kept.set(name, { madeMs: nowMs(), png })
      png.catch(() => kept.delete(name))
      return await png
    },
    [Symbol.asyncDispose]: async () => {
      await worker?.terminate()
    },
  }
}
