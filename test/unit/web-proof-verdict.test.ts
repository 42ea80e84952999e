/** What the proof page makes of the published verifier's answers, without a browser. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  type Network,
  readNetwork,
  type Verification,
  verifyFile,
} from '../../anchor/verifier/airproof-verify.js'
import { proof as texts } from '../../dashboard/texts/en/proof.ts'
import { chainName } from '../../dashboard/web/pages/proof/chain-words.ts'
import { factsOf, stepNames, stepState } from '../../dashboard/web/pages/proof/facts.ts'
import { trustInWords } from '../../dashboard/web/pages/proof/trust-words.ts'
import {
  answerOf,
  judge,
  nodeAddress,
  type OwnNetwork,
  shortHash,
} from '../../dashboard/web/pages/proof/verdict.ts'
import { networkText, otherNetworks, otherRanges, wholeNetworks } from '../support/network-files.ts'

const names = ['alone', 'in-a-city', 'v2-in-a-city', 'v2-ed25519', 'v2-p256', 'v2-alone'] as const
const bytesOf = (name: string) =>
  new Uint8Array(readFileSync(`test/fixtures/bundles/${name}.airproof.json`))

const judged = async (bytes: Uint8Array<ArrayBuffer>, own: OwnNetwork, blockHash = '') =>
  judge({
    verify: (options) => verifyFile(bytes, options),
    blockOf: (verification) => factsOf(bytes, verification)?.block,
    own,
    blockHash,
  })

/** The network whose contract holds the sample. */
const networkOf = (name: string): Network => {
  const { batch, anchor } = JSON.parse(new TextDecoder().decode(bytesOf(name)))
  const { version, ...contract } = readNetwork(networkText()).contracts[0]!
  return {
    ...readNetwork(networkText()),
    contracts: [
      {
        ...contract,
        version: name.startsWith('v2') ? 2 : version,
        address: anchor.contract,
        block: Math.min(anchor.block_number, batch.index),
      },
    ],
  }
}

describe('three verdicts, and a fourth for proofs of others', () => {
  test.each(names)(
    '%s is consistent until its block is confirmed, and then matches',
    async (name) => {
      const bytes = bytesOf(name)
      const own = networkOf(name)
      const { kind, verification } = await judged(bytes, own)
      expect(kind).toBe('consistent')
      const hash = verification.block?.hash ?? ''
      expect((await judged(bytes, own, hash)).kind).toBe('matches')
      expect((await judged(bytes, own, `0x${'0'.repeat(64)}`)).kind).toBe('invalid')
    },
  )

  test.each(otherNetworks.slice(0, 2))(
    'a proof is foreign to a network $name',
    async ({ text }) => {
      expect((await judged(bytesOf('alone'), readNetwork(text))).kind).toBe('foreign')
    },
  )

  test.each(otherRanges)(
    'a proof that names our contract is not valid $name',
    async ({ sample, text }) => {
      expect((await judged(bytesOf(sample), readNetwork(text))).kind).toBe('invalid')
    },
  )

  test.each(wholeNetworks)('a whole network file takes $sample', async ({ sample, text }) => {
    expect((await judged(bytesOf(sample), readNetwork(text))).kind).toBe('consistent')
  })

  test('without this network’s record no proof is this network’s', async () => {
    expect((await judged(bytesOf('alone'), 'unknown')).kind).toBe('unpinned')
    expect((await judged(bytesOf('alone'), 'none')).kind).toBe('foreign')
    // nor does a hash make it so
    const { verification } = await judged(bytesOf('alone'), 'unknown')
    expect((await judged(bytesOf('alone'), 'unknown', verification.block?.hash)).kind).toBe(
      'unpinned',
    )
  })

  test('a foreign file that was changed is not valid, of whichever network it is', async () => {
    const text = new TextDecoder()
      .decode(bytesOf('in-a-city'))
      .replace('"pm10":3621', '"pm10":3622')
    const bytes = new TextEncoder().encode(text)
    const other = readNetwork(otherNetworks[0]!.text)
    for (const own of [other, networkOf('in-a-city'), 'none', 'unknown'] as const)
      expect((await judged(bytes, own)).kind).toBe('invalid')
  })

  test('a file whose block only a node can prove is left open, and not refused', async () => {
    const bundle = JSON.parse(new TextDecoder().decode(bytesOf('alone')))
    const { block_header: _h, transaction_proof: _t, receipt_proof: _r, ...rest } = bundle
    const bytes = new TextEncoder().encode(`${JSON.stringify({ ...rest, level: 'rpc' })}\n`)
    const { kind, verification } = await judged(bytes, networkOf('alone'))
    expect([kind, verification.checks.every(({ ok }) => ok)]).toEqual(['consistent', true])
    expect(verification.notAsked.map(({ name }) => name)).toContain('node')
    expect((await judged(bytes, readNetwork(otherNetworks[0]!.text))).kind).toBe('foreign')
  })
})

test.each(names)('every statement of the verifier on %s has words of the page', async (name) => {
  const bytes = bytesOf(name)
  const both = await Promise.all([
    verifyFile(bytes),
    verifyFile(bytes, { network: networkOf(name) }),
  ])
  const trusts = both.flatMap((verification) => verification.trusts)
  expect(trusts.length).toBeGreaterThan(8)
  for (const trust of trusts)
    expect([trust, trustInWords(trust, texts.trusts)]).not.toContain(undefined)
  for (const { name: check } of both.flatMap(({ checks, notAsked }) => [...checks, ...notAsked]))
    expect([check, check in texts.checks, check in texts.invalid]).toEqual([check, true, true])
})

test('the path ticks only what was checked', async () => {
  const looks = async (bytes: Uint8Array) => {
    const verification = await verifyFile(bytes)
    return stepNames.map((step) => stepState(step, verification))
  }
  expect(await looks(bytesOf('v2-ed25519'))).toEqual(['done', 'done', 'done', 'done'])
  expect(await looks(bytesOf('v2-alone'))).toEqual(['open', 'done', 'done', 'done'])
  expect(await looks(bytesOf('v2-left-out'))).toEqual(['open', 'done', 'done', 'failed'])
  const text = new TextDecoder().decode(bytesOf('in-a-city')).replace('"pm10":3621', '"pm10":3622')
  expect(await looks(new TextEncoder().encode(text))).toEqual(['open', 'failed', 'open', 'open'])
})

describe('what a node says', () => {
  /** Answers each method with what it is given; a number is a status. */
  async function node(
    answers: Readonly<Record<string, unknown>>,
    act: (url: string) => Promise<Verification>,
  ) {
    const server = createServer((request, response) => {
      void (async () => {
        const { method } = JSON.parse((await request.toArray()).join(''))
        const answer = answers[method]
        if (typeof answer === 'number') response.writeHead(answer).end()
        else response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...(answer as object) }))
      })()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      return answerOf(await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    } finally {
      server.close()
    }
  }
  const bytes = bytesOf('alone')
  const { anchor } = JSON.parse(new TextDecoder().decode(bytes))
  const chain = { result: `0x${Number(anchor.chain_id).toString(16)}` }
  const block = (hash: string, number: number) => ({
    result: { hash, number: `0x${number.toString(16)}` },
  })
  test.each([
    ['confirmed', { eth_chainId: chain, eth_getBlockByNumber: block(anchor.block_hash, 1e6) }],
    [
      'contradicted',
      { eth_chainId: chain, eth_getBlockByNumber: block(`0x${'1'.repeat(64)}`, 1e6) },
    ],
    ['not final', { eth_chainId: chain, eth_getBlockByNumber: block(anchor.block_hash, 0) }],
    ['other chain', { eth_chainId: { result: '0x1' } }],
    ['no answer', { eth_chainId: 503 }],
    ['no answer', { eth_chainId: { error: { message: 'no key' } } }],
    ['no answer', { eth_chainId: chain, eth_getBlockByNumber: { result: null } }],
  ] as const)('%s', async (kind, answers) => {
    expect((await node(answers, (rpc) => verifyFile(bytes, { rpc }))).kind).toBe(kind)
  })
})

test('only a node on TLS or on the reader’s own machine is asked', () => {
  for (const text of [
    'https://rpc.example/key',
    ' https://rpc.example ',
    'http://localhost:8545',
    'http://127.0.0.1:8545',
  ])
    expect([text, nodeAddress(text)?.protocol]).not.toContain(undefined)
  for (const text of [
    '',
    'rpc.example',
    'http://rpc.example',
    'ftp://rpc.example',
    'javascript:alert(1)',
    'data:,x',
  ])
    expect([text, nodeAddress(text)]).toEqual([text, undefined])
})

test('a chain is named in words, and one of developers is called that', () => {
  expect(chainName(1, texts)).toBe('Ethereum')
  expect(chainName(424_242, texts)).toBe('chain 424242')
  expect(chainName(31_337, texts)).toBe('chain 31337, a local test chain')
  expect(chainName(1337, texts)).toBe('chain 1337, a local test chain')
})

test('a hash is short to look at', () => {
  expect(shortHash(`0x8c9c${'0'.repeat(56)}371a`)).toBe('0x8c9c…371a')
})
