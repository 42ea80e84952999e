/** The signed-in account, requested once, when the pages start. */
import { signal } from '@preact/signals'

export type Account = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly organization?: string
  readonly tier: 'free' | 'premium'
  readonly role: 'user' | 'operator'
}

export type Me = {
  readonly account: Account
  /** In every form, and in header `x-csrf-token` of a script's requests. */
  readonly csrf: string
}

/** undefined: not known yet. null: no session. */
export const me = signal<Me | null | undefined>(undefined)

/** The server's own settings that a page needs. */
export type Config = {
  /** Where programs reach `/v1`. */
  readonly api: string
  /** Where people reach the operator. */
  readonly contact?: { readonly href: string; readonly text: string }
  /** The operator runs the chain, so proofs say nothing about time. */
  readonly demonstration?: boolean
}

export const config = signal<Config>({ api: location.origin })

/** Requests both; without an answer the reader counts as not signed in. */
export async function learnWhoIsHere(): Promise<void> {
  const [who, settings] = await Promise.all([fetched<Me>('/me'), fetched<Config>('/config.json')])
  if (settings?.api !== undefined) config.value = settings
  me.value = who?.account === undefined || who.account === null ? null : who
}

async function fetched<T>(path: string): Promise<T | undefined> {
  try {
    const answer = await fetch(path, { headers: { accept: 'application/json' } })
    // what the server gives at these two addresses
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return answer.ok ? ((await answer.json()) as T) : undefined
  } catch {
    return undefined
  }
}
