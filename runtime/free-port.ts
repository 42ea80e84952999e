import { createServer } from 'node:http'
import { listenOn } from './listen.ts'

const loopback = '127.0.0.1'

/**
 * A loopback port that was free a moment ago: `port` itself, or any where it is 0.
 * @param setting the variable that chose it @throws MustAct where it is taken
 */
export async function freePort(port = 0, setting = 'port'): Promise<number> {
  const server = createServer()
  const url = await listenOn(server, { host: loopback, port, setting })
  await new Promise((resolve) => server.close(resolve))
  return Number(new URL(url).port)
}
