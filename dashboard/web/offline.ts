/** What was last seen stays when there is no network (`public/sw.js`), and is marked as such. */
import { signal } from '@preact/signals'

/** Since when what is on show is not of now; null: it is. */
export const keptAtMs = signal<number | null>(null)

const afterMs = 3_000

/** Browsers allow it on https, and on this machine. */
export function beginOffline(): void {
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker
  if (workers === undefined) return
  workers.addEventListener(
    'message',
    ({ data }: MessageEvent<{ readonly kept?: string | null }>) => {
      if (data.kept === undefined) return
      keptAtMs.value = data.kept === null ? null : Date.parse(data.kept)
    },
  )
  // the page first: this only serves the next visit
  addEventListener('load', () => setTimeout(() => void register(workers), afterMs), { once: true })
  if (document.readyState === 'complete') setTimeout(() => void register(workers), afterMs)
}

let isBegun = false

async function register(workers: ServiceWorkerContainer): Promise<void> {
  if (isBegun) return
  isBegun = true
  try {
    await workers.register('/sw.js')
    const { active } = await workers.ready
    // what was loaded before it could see it
    const loaded = performance.getEntriesByType('resource').map(({ name }) => name)
    active?.postMessage({ keep: [location.pathname + location.search, ...loaded] })
  } catch {
    // a private window, or storage that is full: the pages need no copy of themselves
  }
}
