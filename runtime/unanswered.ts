/**
 * What waits for an answer on each connection. HTTP/1.1 lets a client send its next requests before
 * the first is answered, and Node begins all of them at once: without a bound one connection that is
 * held up for a moment brings work and memory for tens of thousands.
 */
import type { RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Browsers send the next request after the answer, and programs that do not are content with a few. */
export const mostUnanswered = 32

export type Unanswered = {
  /** Passes requests on; a connection with too many that wait is closed, and no more of it is begun. */
  readonly listener: RequestListener
  readonly on: (socket: Duplex) => readonly ServerResponse[]
}

export function boundUnanswered(listener: RequestListener): Unanswered {
  const waitingOn = new WeakMap<Duplex, Set<ServerResponse>>()
  return {
    listener: (request, response) => {
      const { socket } = request
      // what was read before it was closed
      if (socket.destroyed) return
      const waiting = waitingOn.get(socket) ?? new Set()
      if (waiting.size >= mostUnanswered) {
        socket.destroy()
        return
      }
      waitingOn.set(socket, waiting.add(response))
      response.once('close', () => waiting.delete(response))
      listener(request, response)
    },
    on: (socket) => [...(waitingOn.get(socket) ?? [])],
  }
}
