/**
 * Compare and swap: an entry is written only if it is still what was read. Of several writers
 * exactly one is first; the others read again and decide again.
 */
import type { KV, KvEntry } from '@nats-io/kv'
import { TryAgain } from '../exit.ts'
import { isWrongLastSequence } from './stored-message.ts'

/** @returns the result of the write, or 'overtaken': another write was first, and this one changed nothing */
export async function unlessOvertaken<T>(write: Promise<T>): Promise<T | 'overtaken'> {
  try {
    return await write
  } catch (error) {
    if (isWrongLastSequence(error)) return 'overtaken'
    throw error
  }
}

/** Writes an entry if it is still what was read, or still missing. @returns its revision */
export const putUnlessChanged = (
  kv: KV,
  key: string,
  value: unknown,
  read: KvEntry | null,
): Promise<number | 'overtaken'> =>
  unlessOvertaken(kv.put(key, JSON.stringify(value), { previousSeq: read?.revision ?? 0 }))

/** A change returns this if what it read cannot be right: the entry is then read again. */
export const readAgain = Symbol('read again')

type Changed<T> = T | undefined | typeof readAgain

type Options = {
  readonly mostTries?: number
  /** The error after the last try. */
  readonly busy?: () => Error
}

/**
 * Reads, changes and writes an entry until no other write intervenes. Durable when resolved.
 * @param change returns the new value from the current one; undefined: it is right as it is
 * @returns what was written, or undefined
 * @throws TryAgain if other writers were first at every try
 */
export async function changeEntry<T>(
  kv: KV,
  key: string,
  change: (read: KvEntry | null) => Changed<T> | Promise<Changed<T>>,
  {
    mostTries = 10,
    busy = () => new TryAgain(`other processes keep changing ${key}: try again`),
  }: Options = {},
): Promise<T | undefined> {
  for (let tries = 0; tries < mostTries; tries++) {
    const read = await kv.get(key)
    const changed = await change(read)
    if (changed === undefined) return undefined
    if (changed === readAgain) continue
    if ((await putUnlessChanged(kv, key, changed, read)) !== 'overtaken') return changed
  }
  throw busy()
}
