/** An account as the API needs it. */
export type KnownAccount = { readonly tier: 'free' | 'premium' }

/** @returns undefined for a value of bucket `accounts` that is no account */
export function parseKnownAccount(value: unknown): KnownAccount | undefined {
  if (typeof value !== 'object' || value === null || !('tier' in value)) return undefined
  const { tier } = value
  return tier === 'free' || tier === 'premium' ? { tier } : undefined
}
