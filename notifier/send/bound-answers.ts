/**
 * How much one receiver may send in answer to one attempt, counted on the socket: whatever the bytes
 * are (headers, interim answers, chunk extensions, tickets of TLS), they cost the same traffic.
 */
import type { Socket } from 'node:net'

export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
  readonly code = 'ANSWER_TOO_LARGE'
}

/**
 * Destroys `socket` at so many bytes of one exchange; a read brings 64 KiB at most on top. An exchange
 * begins where we have written again: undici asks one thing at a time of a connection.
 * @param wire what counts the bytes: below TLS, its own socket
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
  // of TLS alone: a ticket, which makes nothing readable
  socket.on('session', check)
}
