/** Variables that look like settings of airproof and are not: mostly a slip of the hand. */
import { nearest } from '../core/nearest.ts'
import type { Environment } from './settings.ts'
import { settingRows } from './settings-table.ts'

/** No other program reads names that begin so. */
const ours = /^(AIRPROOF|ANCHOR)_/

/** Read by the examples in our pages and by our tests, not by airproof. */
const ofOthers: ReadonlySet<string> = new Set([
  'AIRPROOF_KEY',
  'AIRPROOF_URL',
  'AIRPROOF_YEAR',
  'AIRPROOF_ZONE',
  'AIRPROOF_TEST_RUN',
])

/** Every name that can be set: a secret has two. */
export const settingNames: readonly string[] = settingRows.flatMap(([name, { is }]) =>
  is === 'secret' ? [name, `${name}_FILE`] : [name],
)

/** @returns a sentence for each, without its value, which may be a secret */
export function unknownSettings(env: Environment): readonly string[] {
  const known = new Set(settingNames)
  return Object.keys(env)
    .filter((name) => ours.test(name) && !known.has(name) && !ofOthers.has(name))
    .toSorted()
    .map((name) => {
      const meant = nearest(name, settingNames)
      const hint = meant === undefined ? '`airproof settings` lists all' : `did you mean ${meant}?`
      return `${name} is set, and airproof has no setting of that name: ${hint}`
    })
}
