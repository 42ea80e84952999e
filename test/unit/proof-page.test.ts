import { expect, test } from 'vitest'
import { proofPageAnswer } from '../../api/proofs/proof-page.ts'
import { readingOf } from '../support/readings.ts'

const link = 'https://air.example/proof/x'
const chain = {
  id: 31_337,
  name: 'chain 31337, a local test chain, for demonstration only',
  demonstration: true,
}
type Shown = Parameters<typeof proofPageAnswer>[0]
const page = (more: Partial<Shown> = {}): string =>
  String(
    proofPageAnswer({
      reading: readingOf({}),
      verdict: { status: 'pending', hash: '0x0' },
      link,
      network: {
        name: 'Lagos',
        chain,
        contracts: [],
        attribution: 'A Network',
        licence: 'CC-BY-4.0',
        archive: null,
      },
      ...more,
    }).body,
  )

test('a link is there to hand on, unless the reading is not what was anchored', () => {
  expect(page()).toContain(`>${link}</a>`)
  const verdict = { status: 'mismatch', hash: '0x0', why: 'no_batch', index: undefined } as const
  expect(page({ verdict })).not.toContain(link)
})

test('a local test chain is called that, and a public chain or none is not', () => {
  expect(page()).toContain('Local test chain (31337), not public')
  const open = { id: 10, name: 'chain 10', demonstration: false }
  for (const other of [open, null])
    expect(
      page({
        network: {
          name: 'Lagos',
          chain: other,
          contracts: [],
          attribution: 'A Network',
          licence: 'CC-BY-4.0',
          archive: null,
        },
      }),
    ).not.toMatch(/demonstration|test chain/)
})

test('what the operator calls the network is text on the page', () => {
  const name = '<script>"&'
  expect(
    page({
      network: {
        name,
        chain,
        contracts: [],
        attribution: 'A Network',
        licence: 'CC-BY-4.0',
        archive: null,
      },
    }),
  ).toContain('<td>&lt;script>&quot;&amp;</td>')
})

test('a citation names whom to name, the sensor, the network, the time, the hash, the licence and the link', () => {
  expect(page()).toContain(
    `<cite id="citation">A Network. Reading of sensor NGR-LOS-IKJ-001, network Lagos, 2026-01-15T00:00:00.000Z. Hash 0x0. Licence CC-BY-4.0. ${link}</cite>`,
  )
})

test('a period can be cited where the archive is served beside the proofs', () => {
  const network = { name: 'Lagos', chain, contracts: [], attribution: 'A', licence: null }
  const at = (archive: string | null) => page({ network: { ...network, archive } })
  expect(at('https://air.example/archive/catalogue.json')).toContain('href="/archive/cite"')
  for (const archive of ['https://files.example/archive/catalogue.json', null])
    expect(at(archive)).not.toContain('/archive/cite')
})
