import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import {
  describe as inWords,
  keccak256,
  leafOf,
  readNetwork,
  type VerifyOptions,
  verifyBundle,
  verifyFile,
} from '../../anchor/verifier/airproof-verify.js'
import { toHex } from '../../core/hex.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import fixture from '../fixtures/leaf-vectors.json' with { type: 'json' }
import {
  badNetworks,
  networkText,
  otherNetworks,
  otherRanges,
  wholeNetworks,
} from '../support/network-files.ts'
import { canonical, sampleNames, sampleText, tampered } from '../support/tampered.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

const failed = async (bundle: unknown, options = {}): Promise<string> => {
  const { ok, checks, trusts, reading } = await verifyBundle(bundle, options)
  if (ok) return 'none'
  const last = checks.at(-1)
  expect(last?.ok).toBe(false)
  expect(last?.why).toBeTruthy()
  expect([trusts, reading]).toEqual([[], null])
  return last?.name ?? 'none'
}

test('the verifier brings all it needs: it imports no file and no library', () => {
  const source = readFileSync('anchor/verifier/airproof-verify.js', 'utf8')
  const code = source.replace(/\/\*\*[\s\S]*?\*\//g, '')
  const imports = /^\s*(?:import|export)\b[^;]*?\bfrom\s|\brequire\s*\(|^\s*import\s*['"]/m
  expect(imports.test(`import x from 'y'`)).toBe(true)
  expect(imports.test(code)).toBe(false)
  expect(code.match(/\bimport\(.*?\)/g)).toEqual([
    'import(/* @vite-ignore */ fs)',
    'import(/* @vite-ignore */ url)',
  ])
})

test('the page about proofs has the hash of the verifier as it is', () => {
  const bytes = readFileSync('anchor/verifier/airproof-verify.js')
  const hash = createHash('sha256').update(bytes).digest('hex')
  expect(readFileSync('docs/proofs.md', 'utf8')).toContain(`${hash}  airproof-verify.js`)
})

test('its Keccak is Keccak-256 at every length around its blocks', () => {
  for (let length = 0; length < 420; length++) {
    const bytes = Uint8Array.from({ length }, (_, n) => n * 7 + length)
    expect(toHex(keccak256(bytes))).toBe(toHex(keccak(bytes)))
  }
})

describe('it gives the leaf of', () => {
  test.each(fixture.vectors)('$name', ({ reading: { sensor, timeMs, ...rest }, leaf }) => {
    expect(leafOf({ sensor_id: sensor, time_ms: timeMs, ...rest })).toBe(leaf)
  })
})

describe('a bundle is proven', () => {
  test.each(sampleNames)('%s', async (name) => {
    const { ok, checks } = await verifyBundle(sampleText(name))
    expect(checks.filter((check) => !check.ok)).toEqual([])
    const isSigned = JSON.parse(sampleText(name)).reading.device ?? false
    expect([ok, checks.length]).toEqual([true, isSigned ? 10 : 8])
  })

  test('also as an object', async () => {
    expect(await failed(JSON.parse(sampleText('alone')))).toBe('none')
  })

  test('with its reading as people read it, and the block that is to be compared', async () => {
    const { reading, block } = await verifyBundle(sampleText('in-a-city'))
    expect(reading).toEqual({
      sensor_id: 'NGR-LOS-IKJ-021',
      timestamp: '2026-01-01T00:07:01.000Z',
      seq: 5_497_558_138_907,
      pm25: 22.71,
      pm10: 36.21,
      co2: 416.21,
      temperature: -1.5,
      humidity: 65,
      aqi: 69,
    })
    expect(block).toMatchObject({ chainId: 31_337, number: 4, time: '2026-01-01T00:00:00.000Z' })
  })
})

describe('a network file', () => {
  const text = sampleText('alone')
  const network = readNetwork(networkText())

  test('pins chain and contract, and what only a node knows is not asked', async () => {
    const { ok, checks, notAsked, trusts } = await verifyBundle(text, { network })
    const { contract } = JSON.parse(text).anchor
    expect(ok).toBe(true)
    expect(checks).toContainEqual({
      name: 'pins',
      ok: true,
      why: 'it is of the network Lagos you named',
    })
    expect(notAsked).toMatchObject([{ name: 'pins' }, { name: 'code' }])
    expect(trusts.join()).not.toContain(contract)
  })

  test('may hold more than is needed', () => {
    expect(readNetwork(networkText({ api: undefined }))).toEqual(network)
  })

  test('does not take the place of the other pins: they have to hold too', async () => {
    expect(await failed(text, { network, chainId: 1 })).toBe('pins')
    expect(await failed(text, { network, contract: `0x${'0'.repeat(40)}` })).toBe('pins')
  })

  test.each(otherNetworks)('$name refuses the bundle in words', async (other) => {
    const { ok, checks, trusts } = await verifyBundle(text, { network: readNetwork(other.text) })
    expect([ok, trusts]).toEqual([false, []])
    expect(checks.at(-1)).toMatchObject({ name: 'pins', ok: false })
    expect(checks.at(-1)?.why).toContain(other.why)
  })

  const beginsAndEnds = 'where each contract begins and ends'
  test.each(wholeNetworks)(
    'that says where contracts begin and end holds $sample',
    async (whole) => {
      const options = { network: readNetwork(whole.text) }
      const result = await verifyBundle(sampleText(whole.sample), options)
      expect([result.ok, result.notAsked.map(({ name }) => name)]).toEqual([true, ['code']])
      expect(inWords(result)).not.toContain(beginsAndEnds)
      const isVersion2 = whole.sample.startsWith('v2')
      expect(inWords(result).includes('no other contract of the network Lagos counts')).toBe(
        isVersion2,
      )
    },
  )

  test('that does not say where contracts begin and end is said to pin less', async () => {
    const { ok, notAsked, trusts, proves } = await verifyBundle(text, { network })
    expect([ok, proves.join().includes('no other contract')]).toEqual([true, false])
    expect(notAsked).toContainEqual({ name: 'pins', why: expect.stringContaining(beginsAndEnds) })
    expect(trusts.join()).toContain('that no other contract of the network Lagos holds')
  })

  test.each(otherRanges)('$name refuses the bundle in words', async ({ sample, text, why }) => {
    const { ok, checks } = await verifyBundle(sampleText(sample), { network: readNetwork(text) })
    expect([ok, checks.at(-1)]).toMatchObject([
      false,
      { name: 'pins', why: expect.stringContaining(why) },
    ])
  })

  test.each(badNetworks)('that is $name is not taken', ({ text: bad, why }) => {
    expect(() => readNetwork(bad)).toThrow(why)
  })
})

describe('what is left to trust is named:', () => {
  const text = sampleText('in-a-city')
  const { anchor } = JSON.parse(text)
  const pinned = {
    chainId: anchor.chain_id,
    contract: anchor.contract.toUpperCase().replace('X', 'x'),
  }

  test('the block hash, the contract and the sensor, where nothing is pinned', async () => {
    const { trusts } = await verifyBundle(text)
    const printed = [
      'a demonstration chain',
      anchor.block_hash,
      anchor.contract,
      'the sensor measured',
      'the index (aqi)',
      'no other reading has the same number',
      'not before',
    ]
    expect(trusts).toEqual(printed.map((words) => expect.stringContaining(words)))
  })

  test('neither block nor contract, where block, chain and contract are given', async () => {
    const trustedBlockHash = anchor.block_hash
    const { ok, checks, trusts } = await verifyBundle(text, { ...pinned, trustedBlockHash })
    expect([ok, checks.length]).toEqual([true, 10])
    expect(trusts.join()).not.toContain(anchor.contract)
    expect(trusts.join()).not.toContain(anchor.block_hash)
  })

  test('what was not asked has no answer, least of all a yes', async () => {
    const named = async (options: VerifyOptions) => {
      const { checks, notAsked } = await verifyBundle(text, options)
      return [
        checks.find(({ name }) => name === 'pins')?.why,
        ...notAsked.map(({ why }) => why.split(': ').at(-1)),
      ]
    }
    const { chainId, contract } = pinned
    expect(await named({})).toEqual([undefined, 'you named no chain and no contract'])
    expect(await named({ chainId })).toEqual([
      'it is of the chain you named',
      'you named no contract',
    ])
    expect(await named({ contract })).toEqual([
      'it is of the contract you named',
      'you named no chain',
    ])
    expect(await named(pinned)).toEqual(['it is of the chain and contract you named'])
    expect(inWords(await verifyBundle(text))).toContain('– pins, not asked:')
  })

  test('a chain that the operator runs is called a demonstration chain', async () => {
    const result = await verifyBundle(text, { ...pinned, trustedBlockHash: anchor.block_hash })
    expect(result).toMatchObject({ ok: true, demonstration: true })
    const words = inWords(result)
    expect(words).toContain('PROVEN, ON A DEMONSTRATION CHAIN.')
    expect(words).toContain('proves nothing about time, because the operator runs this chain')
  })

  test('in words that name every check', async () => {
    const words = inWords(await verifyBundle(text))
    expect(words).toContain('PROVEN')
    for (const name of [
      'format',
      'leaf',
      'path',
      'batch',
      'head',
      'block',
      'transaction',
      'receipt',
    ])
      expect(words).toContain(`✓ ${name}:`)
    expect(inWords(await verifyBundle(text, { chainId: 1 }))).toContain('REFUSED')
  })
})

describe('what was pinned is compared:', () => {
  const text = sampleText('in-a-city')
  test.each([
    { what: 'another chain', options: { chainId: 1 }, check: 'pins' },
    { what: 'no chain id', options: { chainId: 'mainnet' }, check: 'pins' },
    { what: 'another contract', options: { contract: `0x${'00'.repeat(20)}` }, check: 'pins' },
    {
      what: 'another block',
      options: { trustedBlockHash: `0x${'00'.repeat(32)}` },
      check: 'trusted block',
    },
  ])('$what', async ({ options, check }) => {
    expect(await failed(text, options)).toBe(check)
  })
})

describe('a tampered bundle is refused:', () => {
  test.each(tampered)('version $version: $name, at $check', async ({ text, check }) => {
    expect(await failed(text)).toBe(check)
  })

  const whole = sampleText('alone')
  test.each([
    { what: 'no bundle at all', text: '' },
    { what: 'no object', text: 'null\n' },
    { what: 'a space', text: whole.replace(',"level"', ', "level"') },
    { what: 'no line feed at its end', text: whole.trimEnd() },
    { what: 'two line feeds', text: `${whole}\n` },
    { what: 'a field twice', text: whole.replace('"level":', '"level":"rpc","level":') },
    { what: 'fields exchanged', text: whole.replace('"seq":1,"pm25":1850', '"pm25":1850,"seq":1') },
    { what: 'an exponent', text: whole.replace('"pm25":1850', '"pm25":1.85e3') },
    { what: 'minus zero', text: whole.replace('"tx_index":0', '"tx_index":-0') },
    { what: 'an escape', text: whole.replace('"NGR', '"\\u004eGR') },
    { what: 'two megabytes', text: canonical({ format: 'x'.repeat(2_000_000) }) },
  ])('$what, at format', async ({ text }) => {
    expect(text).not.toBe(whole)
    expect(await failed(text)).toBe('format')
  })

  test('bytes that are no UTF-8, and a byte order mark', async () => {
    const bytes = Buffer.from(whole)
    expect((await verifyFile(bytes)).ok).toBe(true)
    expect((await verifyFile(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]))).ok).toBe(
      false,
    )
    bytes[40] = 0xff
    expect((await verifyFile(bytes)).ok).toBe(false)
  })

  test('any byte of the smallest file, by one bit', async () => {
    const bytes = Buffer.from(whole)
    const bits = inject('soak') ? [0, 1, 2, 3, 4, 5, 6, 7] : [0]
    const toggle = (at: number, bit: number) =>
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)
    for (let at = 0; at < bytes.length; at++) {
      for (const bit of bits) {
        toggle(at, (at + bit) % 8)
        const { ok, checks } = await verifyFile(bytes)
        if (ok || !checks.at(-1)?.why) throw new Error(`byte ${at} may change unseen`)
        toggle(at, (at + bit) % 8)
      }
    }
    expect((await verifyFile(bytes)).ok).toBe(true)
  })

  test('any bytes of any sample', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sampleNames),
        fc.array(fc.record({ at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) }), {
          minLength: 1,
          maxLength: 3,
        }),
        async (name, flips) => {
          const bytes = Buffer.from(sampleText(name))
          for (const { at, by } of flips) {
            bytes.writeUInt8(bytes.readUInt8(at % bytes.length) ^ by, at % bytes.length)
          }
          fc.pre(bytes.toString('latin1') !== Buffer.from(sampleText(name)).toString('latin1'))
          expect((await verifyFile(bytes)).ok).toBe(false)
        },
      ),
      { numRuns: inject('soak') ? 50_000 : 1_000 },
    )
  })

  test('any value anywhere, written as it should be', async () => {
    const places = (value: unknown, way: (string | number)[] = []): (string | number)[][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => places(inner, [...way, key]))
        : [way]
    const alter = (value: unknown, seed: number): unknown => {
      if (typeof value === 'number') return seed % 3 === 0 ? value + 1 : value - 1
      if (typeof value !== 'string') return seed % 1_000
      const at = value.startsWith('0x') ? 2 + (seed % (value.length - 2)) : seed % value.length
      const other = value[at] === 'a' ? 'b' : 'a'
      return `${value.slice(0, at)}${other}${value.slice(at + 1)}`
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sampleNames),
        fc.nat(),
        fc.nat(),
        async (name, pick, seed) => {
          const bundle = JSON.parse(sampleText(name))
          const all = places(bundle)
          const [last = '', ...ways] = (all[pick % all.length] ?? []).toReversed()
          const place = ways.toReversed().reduce((inner, way) => inner[way], bundle)
          place[last] = alter(place[last], seed)
          expect(await failed(canonical(bundle))).not.toBe('none')
        },
      ),
      { numRuns: inject('soak') ? 50_000 : 1_000 },
    )
  })
})

test('an RLP list as deep as a file allows is refused, not tripped over', async () => {
  // written from the inside out: each round puts a list around what is there
  const backwards: number[] = []
  while (backwards.length < 250_000) {
    const size = backwards.length
    if (size < 56) backwards.push(0xc0 + size)
    else if (size < 256) backwards.push(size, 0xf8)
    else if (size < 65_536) backwards.push(size & 255, size >> 8, 0xf9)
    else backwards.push(size & 255, (size >> 8) & 255, size >> 16, 0xfa)
  }
  const header = Uint8Array.from(backwards.toReversed())
  const bundle = JSON.parse(sampleText('alone'))
  bundle.block_header = toHex(header)
  bundle.anchor.block_hash = toHex(keccak(header))
  expect(await failed(canonical(bundle))).toBe('block')
})
