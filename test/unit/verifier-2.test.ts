/** What a bundle of version 2 proves, in words: proven, or left to trust, or not asked. */
import { expect, describe as group, test, vi } from 'vitest'
import {
  leafOf,
  readNetwork,
  type Verification,
  verifyBundle,
} from '../../anchor/verifier/airproof-verify.js'
import { toHundredths } from '../../core/air/hundredths.ts'
import { quantities } from '../../core/air/quantities.ts'
import { headerHash, headOf } from '../../core/proof/header.ts'
import { packNumbers } from '../../core/proof/packed-numbers.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { contractCodes } from '../../schemas/anchoring/contract-code.ts'
import { headerOfBatch } from '../support/header-of-batch.ts'
import { networkText, wholeNetworks } from '../support/network-files.ts'
import { signingDevice } from '../support/signing-device.ts'
import { sampleNames, sampleText, trustsOfSamples } from '../support/tampered.ts'

const verified = (name: string, options = {}): Promise<Verification> =>
  verifyBundle(sampleText(name), options)
const printed = (all: readonly string[], words: string): boolean =>
  all.some((one) => one.includes(words))

test('the number of a reading, and that it has no twin, is proven', async () => {
  const { ok, proves, trusts } = await verified('v2-in-a-city')
  expect(ok).toBe(true)
  expect(proves).toHaveLength(2)
  expect(proves[1]).toMatch(
    /^this is reading number 27 of partition 5; in contract 0x\w{40}, from its beginning on, no other reading bears that number, and every number from there up to it has its place in batch 3 or an earlier one/,
  )
  expect(printed(trusts, 'no other reading has the same number')).toBe(false)
  expect(printed(trusts, 'no second reading of the same time under another number')).toBe(true)
  expect(printed(trusts, 'it is not signed, so the operator could have made it up')).toBe(true)
  expect(printed(trusts, 'has the code of version 2')).toBe(true)
})

test.each(trustsOfSamples)('$words: so of no sample but those', async ({ words, samples }) => {
  const said = await Promise.all(
    sampleNames.map(async (name) => (printed((await verified(name)).trusts, words) ? [name] : [])),
  )
  expect(said.flat()).toEqual(samples)
})

test('a contract whose first numbers are not 1 did not begin at zero', async () => {
  const { ok, trusts } = await verifiedByNode(({ batch }) => {
    batch.n_first[15] = 5
    batch.n_last[15] = 4
  })
  expect([ok, printed(trusts, 'what is before the beginning of contract')]).toEqual([true, true])
})

test('a bundle of version 1 says only what version 1 proves', async () => {
  const { proves, trusts } = await verified('in-a-city')
  expect(proves).toEqual([expect.stringContaining('this reading existed, with these values')])
  expect(printed(trusts, 'no other reading has the same number')).toBe(true)
})

test('where the network file says that the contract begins, what is before is not in it', async () => {
  const { text } = wholeNetworks.find(({ sample }) => sample === 'v2-after-the-border')!
  const { trusts } = await verified('v2-after-the-border', { network: readNetwork(text) })
  expect(printed(trusts, 'what is before the beginning of contract')).toBe(false)
  expect(printed(trusts, 'began where the network file says, after batch 1,')).toBe(true)
})

test('what is refused proves nothing', async () => {
  const bundle = JSON.parse(sampleText('v2-in-a-city'))
  bundle.reading.flags = 0
  expect(await verifyBundle(bundle)).toMatchObject({ ok: false, proves: [], trusts: [] })
})

test('area, flags and every value are shown, with null for the basic ones that are not there', async () => {
  const { reading } = await verified('v2-ed25519')
  expect(reading).toMatchObject({
    area: 'Ikeja',
    flags: 8,
    pm10: 34.01,
    co2: 416,
    temperature: null,
  })
  expect((await verified('v2-in-a-city')).reading).toMatchObject({ no2: 12.5, pressure: 1013.25 })
})

test('a network file pins a contract of version 2', async () => {
  const { contract: address, block_number: block } = JSON.parse(sampleText('v2-alone')).anchor
  const { hash, ownerAt } = contractCodes[2]
  const contract = { address, version: 2, block, code_hash: hash, owner_at: ownerAt }
  const ask = (changes: object) =>
    verified('v2-alone', {
      network: readNetwork(networkText({ contracts: [{ ...contract, ...changes }] })),
    })
  expect(await ask({})).toMatchObject({
    ok: true,
    notAsked: [{ name: 'pins' }, { name: 'code' }],
  })
  const { ok, checks } = await ask({ version: 1 })
  expect([ok, checks.at(-1)?.name]).toEqual([false, 'pins'])
})

group.each(['v2-ed25519', 'v2-p256'])('a signed reading, %s', (name) => {
  test('was made by the holder of the key', async () => {
    const { ok, proves, trusts } = await verified(name)
    expect(ok).toBe(true)
    expect(proves[2]).toMatch(/^it was made by the holder of the (?:ed25519|p256) key /)
    expect(printed(trusts, 'it is not signed')).toBe(false)
    expect(printed(trusts, 'is that of sensor')).toBe(true)
  })

  test.each([
    {
      what: 'knows no such algorithm',
      crypto: {
        subtle: {
          importKey: () => Promise.reject(new DOMException('unknown', 'NotSupportedError')),
        },
      },
    },
    { what: 'did not come over TLS', crypto: {} },
    { what: 'has no cryptography', crypto: undefined },
  ])('is "not checked here" in a page that $what, and never called signed', async ({ crypto }) => {
    vi.stubGlobal('crypto', crypto)
    try {
      const { ok, checks, notAsked, proves, trusts } = await verified(name)
      expect(ok).toBe(true)
      expect(checks.map((check) => check.name)).not.toContain('signature')
      expect(notAsked).toContainEqual({
        name: 'signature',
        why: expect.stringContaining('not checked here'),
      })
      expect(printed(proves, 'the holder of')).toBe(false)
      expect(printed(trusts, 'the signature was not checked here')).toBe(true)
      // what needs no cryptography is checked all the same
      const bundle = JSON.parse(sampleText(name))
      bundle.reading.device.text = bundle.reading.device.text.replace('pm25=22.70', 'pm25=1')
      expect((await verifyBundle(bundle)).checks.at(-1)).toMatchObject({
        name: 'signed text',
        ok: false,
      })
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

const hundredthsIn = (text: string) => {
  const bundle = JSON.parse(sampleText('v2-ed25519'))
  bundle.reading.device.text = bundle.reading.device.text.replace('pm25=22.70', `pm25=${text}`)
  return async (hundredths: number): Promise<string | undefined> => {
    bundle.reading.values[0] = [0, hundredths]
    bundle.reading_hash = leafOf(bundle.reading, 2)
    return (await verifyBundle(bundle)).checks.at(-1)?.name
  }
}

test.each([
  '1.005',
  '0.005',
  '-0.005',
  '0.0049999',
  '1e-2',
  '2.675',
  '4.35',
  '999.995',
  '1E3',
  '-0',
])('a signed %s is normalised as the pipeline does', async (text) => {
  const check = hundredthsIn(text)
  const hundredths = toHundredths(Number(text))!
  // the text was changed, so the signature is not its own any more
  expect(await check(hundredths)).toBe('signature')
  expect(await check(hundredths + 1)).toBe('signed text')
})

test.each(quantities)(
  'a signed $name may be missing if it was dropped, and only then',
  async ({ name, droppedFlag, hard: { low, high } }) => {
    const bundle = JSON.parse(sampleText('v2-ed25519'))
    const { sensor_id: sensor, time_ms: timeMs } = bundle.reading
    const signer = signingDevice('ed25519')
    const ask = async (hundredths: number, flags: number) => {
      const value = `${name}=${hundredths / 100}`
      const text = ['airproof.device.v1', sensor, timeMs, value].join('\n')
      const { algorithm, publicKey, signature } = signer.sign(text)
      const device = { algorithm, public_key: publicKey, signature, text }
      bundle.reading = { ...bundle.reading, values: [], flags, device }
      bundle.reading_hash = leafOf(bundle.reading, 2)
      return (await verifyBundle(bundle)).checks.at(-1)?.name
    }
    for (const outside of [low - 1, high + 1]) {
      expect(await ask(outside, 2 ** droppedFlag)).toBe('path')
      expect(await ask(outside, 0xffffffff - 2 ** droppedFlag)).toBe('signed text')
    }
    // the flag alone excuses nothing
    for (const inside of [low, high]) expect(await ask(inside, 0xffffffff)).toBe('signed text')
  },
)

type Changeable = {
  readonly reading: { readonly values: [id: number, hundredths: number][] }
  readonly batch: { readonly n_first: number[]; readonly n_last: number[] }
}
/** A node says that `v2-alone`, changed, was anchored. */
async function verifiedByNode(change: (bundle: Changeable) => void): Promise<Verification> {
  const keccak = await createKeccak()
  const bundle = JSON.parse(sampleText('v2-alone'))
  for (const field of ['block_header', 'transaction_proof', 'receipt_proof']) delete bundle[field]
  bundle.level = 'rpc'
  change(bundle)
  bundle.reading_hash = leafOf(bundle.reading, 2)
  bundle.batch.root = bundle.reading_hash
  const header = headerOfBatch(bundle.batch)
  bundle.anchor.head = headOf(header, keccak)
  const { anchor } = bundle
  const wordOf = (number: number): string => number.toString(16).padStart(64, '0')
  const data = [
    ...[header.prevHead, headerHash(header, keccak)].map((hash) => hash.slice(2)),
    ...[header.first, header.last, header.count].map(wordOf),
    ...packNumbers(header.nFirst.map((n) => n - 1)).map((word) => word.slice(2)),
    ...packNumbers(header.nLast).map((word) => word.slice(2)),
  ]
  const topic = '0x905dd6517982daa83341b664670b2bdfea90d6402bd71c62a7cea7940abaa693'
  const topics = [topic, `0x${wordOf(header.index)}`, header.root, anchor.head]
  const log = { address: anchor.contract, topics, data: `0x${data.join('')}` }
  const block = { hash: anchor.block_hash, number: '0xff' }
  const answers: Readonly<Record<string, unknown>> = {
    eth_chainId: '0x7a69',
    eth_getBlockByNumber: { ...block, timestamp: `0x${anchor.block_time_s.toString(16)}` },
    eth_getTransactionReceipt: {
      blockHash: anchor.block_hash,
      blockNumber: anchor.block_number,
      transactionIndex: anchor.tx_index,
      status: '0x1',
      logs: [log],
    },
  }
  vi.stubGlobal('fetch', async (_: string, { body }: { readonly body: string }) =>
    Response.json({ result: answers[JSON.parse(body).method] }),
  )
  try {
    return await verifyBundle(bundle, { rpc: 'http://node.example' })
  } finally {
    vi.unstubAllGlobals()
  }
}

test('a quantity that has no name yet is taken, and shown by its id', async () => {
  const { ok, checks, reading } = await verifiedByNode((bundle) => {
    bundle.reading.values.push([16, 1234])
  })
  expect(checks.filter((check) => !check.ok)).toEqual([])
  expect([ok, reading]).toEqual([true, expect.objectContaining({ 'quantity 16': 12.34 })])
})
