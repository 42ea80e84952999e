import { accountTexts } from '../../../account-texts.ts'

const { keys: texts } = accountTexts.settings
const dayMs = 86_400_000

/** How long a key is still valid, in words; and whether it is time to make the next one. */
export function daysLeft(
  expiresAt: string,
  nowMs: number,
): { readonly words: string; readonly isSoon: boolean } {
  const leftMs = Date.parse(expiresAt) - nowMs
  if (leftMs <= 0) return { words: texts.states.expired, isSoon: true }
  const days = Math.round(leftMs / dayMs)
  if (leftMs < dayMs) return { words: texts.lessThanADay, isSoon: true }
  return { words: texts.daysLeft(days), isSoon: days <= 14 }
}
