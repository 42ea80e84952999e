import type { ReplayCounts } from '../../../../operate/rejected-messages.ts'
import { accountTexts } from '../../account-texts.ts'

const { reasons: reasonTexts, advice, unknown, outcome } = accountTexts.operator.refused
const advices: Readonly<Record<string, string>> = advice
const words: Readonly<Record<string, string>> = reasonTexts

/** As the pipeline names them. */
export const reasons = Object.keys(words)

export const reasonWords = (reason: string): string => words[reason] ?? reason

/** What to tell the owner of the sensor. */
export const adviceWords = (reason: string): string => advices[reason] ?? unknown

/** The outcome of sending again. */
export const againWords = ({ replayed, truncated, unsendable, gone }: ReplayCounts): string =>
  [
    outcome.replayed(replayed),
    truncated > 0 ? outcome.truncated(truncated) : '',
    unsendable > 0 ? outcome.unsendable(unsendable) : '',
    gone > 0 ? outcome.gone(gone) : '',
  ]
    .filter((part) => part !== '')
    .join('; ')
