/**
 * A client may send requests before it has read the responses to earlier ones (pipelining).
 * Responses are sent in that order, so an early one would stay in memory until the client has read
 * all earlier ones, which after a stream is never. So a request waits for its turn before any work
 * is done for it.
 */
import type { RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Requests that a client may send ahead of a response; one more closes its connection. */
export const mostAhead = 32

export function oneAtATime(listener: RequestListener): RequestListener {
  /** Absent: no request of the connection is being answered. */
  const lines = new WeakMap<Duplex, (() => void)[]>()

  const begin = (socket: Duplex, response: ServerResponse, answer: () => void): void => {
    response.once('close', () => next(socket))
    answer()
  }
  const next = (socket: Duplex): void => {
    const first = socket.destroyed ? undefined : lines.get(socket)?.shift()
    if (first === undefined) lines.delete(socket)
    else first()
  }

  return (request, response) => {
    const { socket } = request
    if (socket.destroyed) return
    const line = lines.get(socket)
    const answer = (): void => {
      listener(request, response)
    }
    if (line === undefined) {
      lines.set(socket, [])
      begin(socket, response, answer)
    } else if (line.length < mostAhead) {
      line.push(() => {
        // it already has a response: the connection is about to close
        if (response.headersSent) next(socket)
        else begin(socket, response, answer)
      })
    } else socket.destroy()
  }
}
