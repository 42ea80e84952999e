import { readFileSync } from 'node:fs'
import fixture1 from '../fixtures/bundles/tampered.json' with { type: 'json' }
import fixture2 from '../fixtures/bundles/tampered-2.json' with { type: 'json' }

const samples1 = [
  'alone',
  'in-a-city',
  'old-style',
  'access-list',
  'in-a-crowd',
  'beside-a-deposit',
] as const
/** Of version 2; make-tampered.ts is made of them. */
const samples2 = [
  'v2-alone',
  'v2-in-a-city',
  'v2-promoted',
  'v2-after-the-border',
  'v2-ed25519',
  'v2-p256',
] as const
export const sampleNames = [...samples1, ...samples2] as const

/** What every verifier leaves to trust, and the samples of which it does. */
export const trustsOfSamples: readonly {
  readonly words: string
  readonly samples: readonly (typeof sampleNames)[number][]
}[] = [
  { words: 'the index (aqi) is that of these values', samples: sampleNames },
  {
    words: 'nothing which was signed as vendor_x was left out',
    samples: ['v2-ed25519', 'v2-p256'],
  },
  {
    words: 'compare it with the keys that /v1/network/keys/',
    samples: ['v2-ed25519', 'v2-p256'],
  },
  {
    words: 'what is before the beginning of contract 0x',
    samples: ['v2-in-a-city', 'v2-after-the-border'],
  },
]

export const sampleFile = (name: string): string => `test/fixtures/bundles/${name}.airproof.json`
export const sampleText = (name: string): string => readFileSync(sampleFile(name), 'utf8')

/** The form in which every bundle is written. */
export const canonical = (bundle: unknown): string => `${JSON.stringify(bundle)}\n`

/** What each verifier must refuse: as text, with the name of the check that fails. */
type Fixture = {
  readonly tampered: readonly {
    readonly name: string
    readonly bundle: string
    readonly check: string
    readonly changes: readonly {
      readonly at: readonly (string | number)[]
      readonly put?: unknown
    }[]
  }[]
}

const tamperedOf = ({ tampered }: Fixture, version: 1 | 2) =>
  tampered.map(({ name, bundle, check, changes }) => {
    const altered = JSON.parse(sampleText(bundle))
    for (const { at, put } of changes) {
      const [last, ...ways] = at.toReversed()
      let place = altered
      for (const way of ways.toReversed()) place = place[way]
      place[last ?? ''] = put
    }
    return { name, version, check, text: canonical(altered) }
  })

export const tampered = [...tamperedOf(fixture1, 1), ...tamperedOf(fixture2, 2)]
