/**
 * After "wrong last sequence": what a subject holds after the message that a publish expected. Our
 * own publish that timed out but was stored, another owner's message, or foreign ones, which change
 * only the sequence to publish against.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { nextMessage, type Stored } from './stored-message.ts'

type Place = {
  readonly stream: string
  readonly subject: string
  /** The sequence that the publish expected. */
  readonly expected: number
}

export type After<T> =
  | { readonly kind: 'found'; readonly seq: number; readonly value: T }
  | { readonly kind: 'foreign'; readonly end: number }
  /** The subject holds nothing there: the server has lost the message that we expected. */
  | { readonly kind: 'lost' }

/** @param read undefined: foreign, and reported. Rejects if the server does not respond. */
export async function findAfter<T>(
  nc: NatsConnection,
  { stream, subject, expected }: Place,
  read: (stored: Stored) => Promise<T | undefined> | T | undefined,
): Promise<After<T>> {
  for (let end = expected; ; ) {
    const stored = await nextMessage(nc, stream, subject, end + 1)
    if (stored === undefined) return end === expected ? { kind: 'lost' } : { kind: 'foreign', end }
    end = stored.seq
    const value = await read(stored)
    if (value !== undefined) return { kind: 'found', seq: end, value }
  }
}
