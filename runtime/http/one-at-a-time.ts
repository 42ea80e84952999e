/**
 * A client may send requests before it has read the answers to earlier ones (pipelining). Answers go
 * out in that order, so one that is made early lies in memory until the client has read all before
 * it: for ever after a stream. Here a request waits for its turn before anything is done for it.
 */
import type { RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Requests that a client may send ahead of an answer; its connection is closed at one more. */
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
        // answered for us meanwhile: the connection is about to close
        if (response.headersSent) next(socket)
        else begin(socket, response, answer)
      })
    } else socket.destroy()
  }
}
