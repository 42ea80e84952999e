import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { MustAct } from '../exit.ts'
import { listenOn } from '../http/listen.ts'
import { createServer } from '../http/node-http.ts'

const loopback = '127.0.0.1'
/**
 * Below the ports that systems use for outgoing connections: the next connection of any process
 * could take one of those before the caller listens on it.
 */
const [from, to] = [20_000, 32_000]
const mostTries = 100

/**
 * A loopback port that was free a moment ago: `port` itself, or any if it is 0. What it chooses is not given
 * again, to this process or another, until this process ends: its user may not listen on it yet.
 * @param setting the variable that chose it @throws MustAct if it is taken
 */
export async function freePort(port = 0, setting = 'port'): Promise<number> {
  if (port !== 0) return await listenOnce(port, setting)
  for (let tries = 0; tries < mostTries; tries++) {
    const candidate = randomInt(from, to)
    if (!(await reserve(candidate))) continue
    try {
      return await listenOnce(candidate, setting)
    } catch (error) {
      if (!(error instanceof MustAct)) throw error
    }
  }
  return await listenOnce(0, setting)
}

/** Takes the UDP port of the same number, which nobody listens on: the system frees it with the process. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  socket.bind({ port, address: loopback, exclusive: true })
  try {
    await once(socket, 'listening')
    socket.unref()
    return true
  } catch {
    socket.close()
    return false
  }
}

/** A sentence for each of the chosen ports (not 0, not undefined) that is taken. */
export async function takenPorts(
  chosen: readonly (readonly [port: number | undefined, setting: string])[],
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [port = 0, setting] of chosen)
    try {
      if (port !== 0) await listenOnce(port, setting)
    } catch (error) {
      if (!(error instanceof MustAct)) throw error
      faults.push(error.message)
    }
  return faults
}

async function listenOnce(port: number, setting: string): Promise<number> {
  const server = createServer()
  const url = await listenOn(server, { host: loopback, port, setting })
  await new Promise((resolve) => server.close(resolve))
  return Number(new URL(url).port)
}
