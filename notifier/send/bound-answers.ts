/**
 * Limits how much a receiver may send in answer to one attempt, counted on the socket: whatever the
 * bytes are (headers, interim answers, chunk extensions, TLS tickets), they cost the same traffic.
 */
import type { Socket } from 'node:net'

export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
  readonly code = 'ANSWER_TOO_LARGE'
}

/**
 * Destroys `socket` when one exchange has received `mostBytes`; a read may add at most 64 KiB. An
 * exchange starts when we have written again: undici sends one request at a time per connection.
 * @param wire the socket whose bytes are counted: with TLS, the one below it
 */
export function boundAnswers(socket: Socket, wire: Socket, mostBytes: number): void {
  let written = socket.bytesWritten
  let read = wire.bytesRead
  let before = read
  const check = (): void => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten
      before = read
    }
    read = wire.bytesRead
    if (read - before < mostBytes) return
    const most = Math.round(mostBytes / 1_024)
    socket.destroy(new AnswerTooLarge(`the receiver sent ${most} KiB or more in one answer`))
  }
  socket.on('readable', check)
  // only TLS: a ticket, which makes nothing readable
  socket.on('session', check)
}
