import { readFileSync } from 'node:fs'
import fixture from '../fixtures/bundles/tampered.json' with { type: 'json' }

export const sampleNames = [
  'alone',
  'in-a-city',
  'old-style',
  'access-list',
  'in-a-crowd',
  'beside-a-deposit',
] as const

export const sampleFile = (name: string): string => `test/fixtures/bundles/${name}.airproof.json`
export const sampleText = (name: string): string => readFileSync(sampleFile(name), 'utf8')

/** The form in which every bundle is written. */
export const canonical = (bundle: unknown): string => `${JSON.stringify(bundle)}\n`

/** What each verifier must refuse: as text, with the name of the check that fails. */
export const tampered = fixture.tampered.map(({ name, bundle, check, changes }) => {
  const altered = JSON.parse(sampleText(bundle))
  for (const { at, put } of changes) {
    const [last, ...ways] = at.toReversed()
    let place = altered
    for (const way of ways.toReversed()) place = place[way]
    place[last ?? ''] = put
  }
  return { name, check, text: canonical(altered) }
})
