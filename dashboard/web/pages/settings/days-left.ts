const dayMs = 86_400_000

/** How long a key is still valid, in words; and whether it is time to make the next one. */
export function daysLeft(
  expiresAt: string,
  nowMs: number,
): { readonly words: string; readonly isSoon: boolean } {
  const leftMs = Date.parse(expiresAt) - nowMs
  if (leftMs <= 0) return { words: 'expired', isSoon: true }
  const days = Math.round(leftMs / dayMs)
  if (leftMs < dayMs) return { words: 'less than a day left', isSoon: true }
  return { words: days === 1 ? '1 day left' : `${days} days left`, isSoon: days <= 14 }
}
