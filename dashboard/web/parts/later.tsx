import type { ComponentChildren } from 'preact'
import { Loading, NotLoaded } from './states.tsx'
import { useAnswer } from './use-answer.ts'

type LaterProps<T> = {
  /** Imports the code. */
  readonly load: () => Promise<T>
  /** Not before that is true. */
  readonly isWanted?: boolean
  readonly children: (code: T) => ComponentChildren
}

/** A part of a page whose code is loaded after the page's own; its room is kept until then. */
export function Later<T>({ load, isWanted = true, children }: LaterProps<T>) {
  const { value, error } = useAnswer(async () => (isWanted ? await load() : undefined), [isWanted])
  if (value !== undefined) return <>{children(value)}</>
  if (error !== undefined) return <NotLoaded />
  return <Loading isTall />
}
