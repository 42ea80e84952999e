/**
 * Run in every test file: when its last test is over nothing may keep the process awake, no
 * server, socket or child. Closing may take a moment, on a busy machine a long one, so it is
 * waited for, with a bound.
 */
import { afterAll } from 'vitest'

const watched = new Set(['TCPServerWrap', 'TCPSocketWrap', 'ProcessWrap', 'FSEvent'])

const openHandles = (): string[] =>
  process.getActiveResourcesInfo().filter((kind) => watched.has(kind))

const before = openHandles().length

afterAll(async () => {
  const deadline = Date.now() + 10_000
  while (openHandles().length > before && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const open = openHandles()
  if (open.length <= before) return
  const kinds = Map.groupBy(open, (kind) => kind)
  const counts = [...kinds].map(([kind, all]) => `${all.length} ${kind}`)
  throw new Error(`left open by this file: ${counts.join(', ')}`)
})
