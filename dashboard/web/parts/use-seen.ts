import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Whether an element was ever near the window: what is far below is asked for when it is reached. */
export function useSeen<E extends Element>(): readonly [RefObject<E | null>, boolean] {
  const ref = useRef<E>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (element === null || isSeen) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
      },
      { rootMargin: '200px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [isSeen])
  return [ref, isSeen]
}
