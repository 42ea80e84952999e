/**
 * Answers are in memory until their clients have read them. A client that keeps sending requests
 * and does not read the answers gets no more of them, whichever connections it uses, so it holds no
 * more memory.
 */
import type { ServerResponse } from 'node:http'
import { ApiError } from './api-error.ts'

type Bounds = {
  /** Bytes in total; beyond that each share may have one answer at a time. */
  readonly most: number
  /** Bytes of an account, or of a visitor's site or address. */
  readonly each: number
}

export const unreadBounds: Bounds = { most: 256 * 1024 * 1024, each: 32 * 1024 * 1024 }

export type UnreadAnswers = {
  /** @throws ApiError 429 if too much waits to be read */
  readonly refuseMore: (share: string) => void
  /** Counts the bytes until the client has received the answer, or has gone. */
  readonly add: (share: string, response: ServerResponse, bytes: number) => void
}

export function unreadAnswers({ most, each }: Bounds = unreadBounds): UnreadAnswers {
  const unread = new Map<string, number>()
  let total = 0
  const change = (share: string, bytes: number): void => {
    total += bytes
    const left = (unread.get(share) ?? 0) + bytes
    if (left > 0) unread.set(share, left)
    else unread.delete(share)
  }
  return {
    refuseMore: (share) => {
      const own = unread.get(share) ?? 0
      if (own >= each || (own > 0 && total >= most)) throw tooMuch(own)
    },
    add: (share, response, bytes) => {
      if (bytes === 0 || response.closed) return
      change(share, bytes)
      response.once('close', () => change(share, -bytes))
    },
  }
}

const tooMuch = (bytes: number): ApiError =>
  new ApiError(
    429,
    'too_much_unread',
    'too many answers wait to be read: read them, or close their connections, and ask again',
    { details: { bytes }, headers: { 'retry-after': '1' } },
  )
