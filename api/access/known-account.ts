import type { Account } from '../../schemas/people/account.ts'

export type Tier = Account['tier']

/** An account as the API needs it. */
type KnownAccount = { readonly tier: Tier }

/** @returns undefined for a value of bucket `accounts` that is no account */
export function parseKnownAccount(value: unknown): KnownAccount | undefined {
  if (typeof value !== 'object' || value === null || !('tier' in value)) return undefined
  const { tier } = value
  return tier === 'free' || tier === 'premium' ? { tier } : undefined
}
