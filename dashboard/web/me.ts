/** The signed-in account, requested once, when the pages start. */
import { signal } from '@preact/signals'
import type { Box } from '../../core/map-box.ts'
import { learnTime } from './parts/time/clock.ts'

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
  /** Where people reach these pages: links that are handed on begin with it. */
  readonly url: string
  /** Where programs reach `/v1`. */
  readonly api: string
  /** Where people reach the operator. */
  readonly contact?: { readonly href: string; readonly text: string }
  /** The operator runs the chain, so proofs say nothing about time. */
  readonly demonstration?: boolean
  /** The name of the whole network. */
  readonly network?: string
  /** What every sensor id begins with. */
  readonly idPrefix?: string
  /** What the map shows until there are sensors. */
  readonly box?: Box
  /** The IANA name of the network's time zone. */
  readonly timezone?: string
  /** The map's ground; absent: there is none. */
  readonly map?: {
    readonly url: string
    readonly isPicture: boolean
    readonly box?: Box
    readonly maxZoom: number
    readonly attribution: string
  }
}

export const config = signal<Config>({ url: location.origin, api: location.origin })

/** The session ended while its page was open: a dialog says so, and leads back after signing in. */
export const hasExpired = signal(false)

/** The server has said that there is no session. */
export function forgetSession(): void {
  if (me.value) hasExpired.value = true
  me.value = null
}

/** Asks for the token of the session that the browser has now. @returns whether there is one */
export async function renewCsrf(): Promise<boolean> {
  const who = await fetched<Answered>('/me')
  if (who?.account == null) {
    if (who !== undefined) forgetSession()
    return false
  }
  me.value = who
  return true
}

/** Requests both; without an answer the reader counts as not signed in. */
export async function learnWhoIsHere(): Promise<void> {
  const [who, settings] = await Promise.all([
    fetched<Answered>('/me'),
    fetched<Config>('/config.json'),
  ])
  if (settings?.api !== undefined) config.value = settings
  me.value = who?.account == null ? null : who
}

/** What `/me` says. */
type Answered = Me | { readonly account: null }

async function fetched<T>(path: string): Promise<T | undefined> {
  try {
    const answer = await fetch(path, { headers: { accept: 'application/json' } })
    // the server lets nothing of it be kept, so it was sent now
    learnTime(answer.headers.get('date'))
    // what the server gives at these two addresses
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return answer.ok ? ((await answer.json()) as T) : undefined
  } catch {
    return undefined
  }
}
