import type { Server } from 'node:http'
import { listenOn } from '../runtime/http/listen.ts'

const readingsPerSecond = 100

/**
 * Serves until the parent disconnects; sends it the address, and its own CPU time in µs on request.
 * @param hear called with 0, 1, 2 …, once a reading
 */
export async function serveFor(server: Server, hear: (n: number) => void): Promise<void> {
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'none' })
  let heard = 0
  const hearing = setInterval(() => hear(heard++), 1_000 / readingsPerSecond)
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system })
  })
  process.on('disconnect', () => {
    clearInterval(hearing)
    server.close()
    server.closeAllConnections()
  })
  process.send?.({ url })
}
