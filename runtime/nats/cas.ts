/**
 * Compare and swap: an entry is written only as long as it is still what was read. Of several
 * writers exactly one is first; the others read again and decide again.
 */
import type { KV, KvEntry } from '@nats-io/kv'
import { TryAgain } from '../exit.ts'
import { isWrongLastSequence } from './stored-message.ts'

/** @returns what the write gives, or 'overtaken': another write was first, and this one changed nothing */
export async function unlessOvertaken<T>(write: Promise<T>): Promise<T | 'overtaken'> {
  try {
    return await write
  } catch (error) {
    if (isWrongLastSequence(error)) return 'overtaken'
    throw error
  }
}

/** Writes an entry as long as it is still what was read, or still missing. @returns its revision */
export const putUnlessChanged = (
  kv: KV,
  key: string,
  value: unknown,
  read: KvEntry | null,
): Promise<number | 'overtaken'> =>
  unlessOvertaken(kv.put(key, JSON.stringify(value), { previousSeq: read?.revision ?? 0 }))

/** What a change returns if what it read cannot be right: it is read again. */
export const readAgain = Symbol('read again')

type Changed<T> = T | undefined | typeof readAgain

type Options = {
  readonly mostTries?: number
  /** What is thrown after the last try. */
  readonly busy?: () => Error
}

/**
 * Reads, changes and writes an entry until no other write comes between. Durable when resolved.
 * @param change what the entry is to hold, from what it holds; undefined: it is right as it is
 * @returns what was written, or undefined
 * @throws TryAgain where others were first at every try
 */
export async function changeEntry<T>(
  kv: KV,
  key: string,
  change: (read: KvEntry | null) => Changed<T> | Promise<Changed<T>>,
  {
    mostTries = 10,
    busy = () => new TryAgain(`${key} is being changed by others: try again`),
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
