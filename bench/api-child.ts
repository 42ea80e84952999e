import type { Server } from 'node:http'
import { listenOn } from '../runtime/http/listen.ts'

/**
 * Serves until the parent disconnects; sends it the address, and its own CPU time in µs on request (of it `userUs` outside of the kernel).
 * @param hear called with 0, 1, 2 …, once a reading; of 0 readings per second never
 */
export async function serveFor(
  server: Server,
  hear: (n: number) => void,
  readingsPerSecond = 100,
): Promise<void> {
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'none' })
  let heard = 0
  const hearing =
    readingsPerSecond === 0
      ? undefined
      : setInterval(() => hear(heard++), 1_000 / readingsPerSecond)
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system, userUs: user })
  })
  process.on('disconnect', () => {
    clearInterval(hearing)
    server.close()
    server.closeAllConnections()
  })
  process.send?.({ url })
}
