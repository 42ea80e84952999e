import { once } from 'node:events'
import type { Server } from 'node:net'
import { codeOf, MustAct } from '../exit.ts'
import { flagOf } from '../settings.ts'

type Address = {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** The variable that chose the port, for the message when it is taken. */
  readonly setting: string
}

/** Starts to listen. @returns the server's URL @throws MustAct if the port is taken */
export async function listenOn(server: Server, { host, port, setting }: Address): Promise<string> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    throw portError(cause, port, setting)
  }
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
}

/** An error of listening, as `MustAct` if a person can fix it. */
export function portError(cause: unknown, port: number, setting: string): unknown {
  const choose = `choose another with ${setting} (--${flagOf(setting)})`
  switch (codeOf(cause)) {
    case 'EADDRINUSE':
      return new MustAct(`port ${port} is in use: stop what uses it, or ${choose}`, { cause })
    case 'EACCES':
      return new MustAct(`this user may not open port ${port}: ${choose}`, { cause })
    default:
      return cause
  }
}
