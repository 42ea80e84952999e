import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fromRlp, type Hex, toRlp } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  encodeBlockHeader,
  encodeReceipt,
  encodeTransaction,
} from '../../anchor/chain/block-bytes.ts'
import { type Ask, buildChainProof } from '../../anchor/chain/bundle.ts'
import { describe as describeResult, verifyBundle } from '../../anchor/verifier/airproof-verify.js'
import { listenOn } from '../../runtime/http/listen.ts'
import {
  type AnchoredBatch,
  anchoredBatch,
  someReadings,
  someReadings2,
} from '../support/anchored.ts'
import { anvilChainId, type TestAnvil, testAnvil } from '../support/anvil.ts'
import { hostileText, terminalCodes } from '../support/hostile-text.ts'
import { networkText } from '../support/network-files.ts'
import { valued } from '../support/readings.ts'
import {
  canonical,
  sampleFile,
  sampleNames,
  sampleText,
  tampered,
  trustsOfSamples,
} from '../support/tampered.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wrongNetworks } from '../support/wrong-networks.ts'

const run = async (command: string, args: readonly string[]) => {
  try {
    const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 2 ** 24 })
    return { code: 0, stdout, stderr: '' }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

const python = await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'])
const noPython = python.code === 0 ? '' : ' (no python3 of 3.9 or newer on PATH)'

const lastCheck = async (bundle: string, options = {}) => {
  const { ok, checks } = await verifyBundle(bundle, options)
  return { ok, name: checks.at(-1)?.name, why: checks.at(-1)?.why }
}

describe('bundles from a live chain', () => {
  let anvil: TestAnvil
  let batch: AnchoredBatch
  beforeAll(async () => {
    anvil = await testAnvil()
    batch = await anchoredBatch(anvil, { readings: someReadings(300), crowd: 300 })
    // 301 transactions in one block take a busy machine a while
  })
  afterAll(() => anvil[Symbol.asyncDispose]())
  const first = (): string => batch.bundles[0] ?? ''
  const proofWith = (ask: Ask) =>
    buildChainProof({
      ask,
      chainId: anvilChainId,
      contract: batch.contract,
      txHash: batch.chain.txHash,
    })

  test('each reading of a batch is proven, late in a block of 301 transactions', async () => {
    expect(batch.chain.txIndex).toBe(300)
    for (const bundle of batch.bundles) {
      expect(await lastCheck(bundle)).toMatchObject({ ok: true, name: 'receipt' })
    }
    expect(Math.max(...batch.bundles.map(({ length }) => length))).toBeLessThanOrEqual(12_288)
  })

  test('a node that is asked says when the block is final, and the bundle is proven then', async () => {
    const options = { rpc: anvil.url }
    expect(await lastCheck(first(), options)).toMatchObject({
      ok: false,
      name: 'node',
      why: 'the block is not finalized yet',
    })
    await anvil.rpc('anvil_mine', ['0x5'])
    expect(await lastCheck(first(), options)).toMatchObject({ ok: true, name: 'node' })
    const { trusts } = await verifyBundle(first(), options)
    expect(trusts[1]).toContain(new URL(anvil.url).host)
  })

  test('the code that a network file names is asked of the node', async () => {
    await anvil.rpc('anvil_mine', ['0x5'])
    const network = JSON.parse(networkText())
    const [contract] = network.contracts
    const asked = (changes: object) =>
      lastCheck(first(), {
        rpc: anvil.url,
        network: {
          ...network,
          chainId: network.chain.id,
          contracts: [{ ...contract, address: batch.contract, ...changes }],
        },
      })
    expect(await asked({})).toMatchObject({ ok: true, name: 'code' })
    expect(await asked({ code_hash: `0x${'0'.repeat(64)}` })).toMatchObject({
      ok: false,
      name: 'code',
    })
    expect(await asked({ owner_at: [] })).toMatchObject({ ok: false, name: 'code' })
  })

  test('a chain is a demonstration chain also where the network file says that it is one', async () => {
    await using other = await testAnvil({ chainId: 99 })
    const { bundles, contract } = await anchoredBatch(other, { readings: someReadings(1) })
    const file = JSON.parse(networkText())
    const [pinned] = file.contracts
    const isDemonstration = async (demonstration: boolean) => {
      const contracts = [{ ...pinned, address: contract }]
      const network = { ...file, chainId: 99, demonstration, contracts }
      return (await verifyBundle(bundles[0], { network })).demonstration
    }
    expect([await isDemonstration(true), await isDemonstration(false)]).toEqual([true, false])
  })

  test('where the tries cannot be rebuilt, the bundle says so and a node has to be asked', async () => {
    const blind: Ask = async (method, params) => {
      const printed = await anvil.rpc(method, params)
      // a header field of an upgrade that nobody here has heard of
      return method === 'eth_getBlockByHash' ? { ...Object(printed), gasLimit: '0x1' } : printed
    }
    const chain = await proofWith(blind)
    expect(chain).toBeDefined()
    expect(chain?.tries).toBeUndefined()
    const { block_header, transaction_proof, receipt_proof, ...rest } = JSON.parse(first())
    expect([block_header, transaction_proof, receipt_proof].every(Boolean)).toBe(true)
    const bundle = canonical({ ...rest, level: 'rpc' })
    expect(await lastCheck(bundle)).toMatchObject({ ok: false, name: 'node' })
    expect(await lastCheck(bundle, { rpc: anvil.url })).toMatchObject({ ok: true, name: 'node' })
    const forged = JSON.parse(bundle)
    forged.anchor.tx_index = 7
    expect(await lastCheck(canonical(forged), { rpc: anvil.url })).toMatchObject({
      ok: false,
      why: 'the transaction is in another place',
    })
  })

  test('a node’s own bytes are taken where it gives them, whatever its JSON knows', async () => {
    const block = Object(await anvil.rpc('eth_getBlockByHash', [batch.chain.blockHash, true]))
    const receipts = Object(await anvil.rpc('eth_getBlockReceipts', [batch.chain.blockHash]))
    // a block holds the old kind of transaction as a list, the others as bytes
    const transactions = block.transactions
      .map(encodeTransaction)
      .map((tx: Hex) => (tx.startsWith('0xf') ? fromRlp(tx) : tx))
    const raw: Ask = async (method, params) => {
      if (method === 'debug_getRawBlock')
        return toRlp([fromRlp(encodeBlockHeader(block)), transactions, []])
      if (method === 'debug_getRawReceipts') return receipts.map(encodeReceipt)
      if (method === 'eth_getBlockReceipts') throw new Error('not asked for')
      const printed = await anvil.rpc(method, params)
      return method === 'eth_getBlockByHash' ? { ...Object(printed), gasLimit: '0x1' } : printed
    }
    expect(await proofWith(raw)).toEqual(batch.chain)
    const lying: Ask = async (method, params) =>
      method === 'debug_getRawBlock' ? '0xc0' : anvil.rpc(method, params)
    expect(await proofWith(lying)).toEqual(batch.chain)
  })

  test('transactions of an unknown type are taken as the node’s bytes', async () => {
    const asked: string[] = []
    const newer: Ask = async (method, params) => {
      asked.push(method)
      const printed = Object(await anvil.rpc(method, params))
      if (method !== 'eth_getBlockByHash') return printed.valueOf()
      const transactions = printed.transactions.map((tx: object) => ({ ...tx, type: '0x5' }))
      return { ...printed, transactions }
    }
    expect(await proofWith(newer)).toEqual(batch.chain)
    expect(asked).toContain('eth_getRawTransactionByHash')
  })

  test('a node without the newer methods is asked in the older way', async () => {
    const old: Ask = (method, params) =>
      method === 'eth_getBlockReceipts'
        ? Promise.reject(new Error('the method does not exist'))
        : anvil.rpc(method, params)
    expect(await proofWith(old)).toEqual(batch.chain)
  })

  test('a node that fails is no reason for a lesser bundle: it is asked again later', async () => {
    const failing: Ask = (method, params) =>
      method.endsWith('Receipts') ||
      (method === 'eth_getTransactionReceipt' && params[0] !== batch.chain.txHash)
        ? Promise.reject(new Error('429'))
        : anvil.rpc(method, params)
    await expect(proofWith(failing)).rejects.toThrow('429')
  })

  test('a transaction that is in no block has no proof yet', async () => {
    const txHash = `0x${'12'.repeat(32)}` as const
    const { contract } = batch
    expect(
      await buildChainProof({ ask: anvil.rpc, chainId: anvilChainId, contract, txHash }),
    ).toBeUndefined()
  })

  test('a node of another chain, one that is away and one that answers 429 are no witnesses', async () => {
    await using other = await testAnvil({ chainId: 99 })
    expect(await lastCheck(first(), { rpc: other.url })).toMatchObject({
      ok: false,
      why: 'it is a node of another chain',
    })
    await other.kill()
    const away = await lastCheck(first(), { rpc: other.url })
    expect([away.ok, away.name]).toEqual([false, 'node'])
    expect(away.why).toContain('cannot be asked')
    // refused, but not because of anything that the bundle says
    const { unreachable } = await verifyBundle(first(), { rpc: other.url })
    expect([unreachable, (await verifyBundle('{}')).unreachable]).toEqual([true, false])
    const busy = createServer((_, answer) => answer.writeHead(429, { connection: 'close' }).end())
    const rpc = await listenOn(busy, { host: '127.0.0.1', port: 0, setting: 'busy' })
    expect(await lastCheck(first(), { rpc })).toMatchObject({ why: 'the node answered 429' })
    await new Promise((resolve) => busy.close(resolve))
  })

  test('after a reorganisation the node says that the block is another one', async () => {
    const anew = await anchoredBatch(anvil, { readings: someReadings(3) })
    const depth = Number(await anvil.rpc('eth_blockNumber')) - anew.chain.blockNumber + 1
    await anvil.rpc('anvil_reorg', [depth, []])
    await anvil.rpc('anvil_mine', ['0x5'])
    expect(await lastCheck(anew.bundles[0] ?? '', { rpc: anvil.url })).toMatchObject({
      ok: false,
      name: 'node',
      why: `block ${anew.chain.blockNumber} is another one there`,
    })
  })
})

describe('a batch that counts one reading and has two under its one number', () => {
  let anvil: TestAnvil
  let batch: AnchoredBatch
  beforeAll(async () => {
    anvil = await testAnvil()
    const [reading] = someReadings(1)
    const readings = [500, 30_000].map((pm25) => valued({ ...reading!, pm25 }))
    batch = await anchoredBatch(anvil, { readings, counts: [1] })
  })
  afterAll(() => anvil[Symbol.asyncDispose]())
  const unproven = /exactly|without a gap/

  test('has a bundle of both that says what it does not prove', async () => {
    const options = {
      chainId: anvilChainId,
      contract: batch.contract,
      trustedBlockHash: batch.chain.blockHash,
    }
    for (const bundle of batch.bundles) {
      const result = await verifyBundle(bundle, options)
      expect(result.ok).toBe(true)
      expect(result.trusts).toContainEqual(
        expect.stringContaining('no other reading has the same number'),
      )
      expect(describeResult(result)).not.toMatch(unproven)
    }
  })

  test.skipIf(noPython !== '')(`in Python too${noPython}`, async () => {
    using folder = temporaryFolder()
    const files = batch.bundles.map((text, n) => {
      const path = join(folder.path, `${n}.airproof.json`)
      writeFileSync(path, text)
      return path
    })
    const { code, stdout } = await run('python3', ['examples/verify-python/verify.py', ...files])
    expect(code).toBe(0)
    expect(stdout.match(/on trust: no other reading has the same number/g)).toHaveLength(2)
    expect(stdout.match(/: proven, on a demonstration chain$/gm)).toHaveLength(2)
    expect(stdout.match(/not asked: .* no chain and no contract/g)).toHaveLength(2)
    expect(stdout).not.toMatch(unproven)
  })
})

describe('a batch of version 2 with two readings under one number', () => {
  let anvil: TestAnvil
  beforeAll(async () => {
    anvil = await testAnvil()
  })
  afterAll(() => anvil[Symbol.asyncDispose]())

  test.each([
    { what: 'counts one: its tree has no place for two', counts: [1] },
    { what: 'counts two: the other has another number, which it does not bear', counts: [2] },
  ])('$what', async ({ counts }) => {
    const [reading] = someReadings2(1)
    const readings = [500, 30_000].map((pm25) => valued({ ...reading!, pm25 }))
    const { bundles } = await anchoredBatch(anvil, { contract: 2, readings, counts })
    const checks = await Promise.all(bundles.map((bundle) => lastCheck(bundle)))
    // of two places, a number has one
    const proven = counts[0] === 1 ? 0 : 1
    expect(checks.filter(({ ok }) => ok)).toHaveLength(proven)
    for (const { ok, name } of checks) expect(ok ? 'receipt' : 'path').toBe(name)
  })
})

describe('the verifier as a command', () => {
  const verifier = 'anchor/verifier/airproof-verify.js'
  const file = sampleFile('in-a-city')
  const { anchor } = JSON.parse(sampleText('in-a-city'))

  test('works alone in an empty folder, and says what it did and what is left to trust', async () => {
    using folder = temporaryFolder()
    const alone = join(folder.path, 'airproof-verify.mjs')
    writeFileSync(alone, readFileSync(verifier))
    const { code, stdout } = await run(process.execPath, [alone, file])
    expect(code).toBe(0)
    expect(stdout).toContain('PROVEN')
    expect(stdout).toContain(anchor.block_hash)
    expect(stdout).toContain('Taken on trust')
  })

  test('takes what it shall pin, and ends with 1 where that is not so', async () => {
    const pins = ['--chain-id', '31337', '--contract', anchor.contract]
    const good = await run(process.execPath, [
      verifier,
      file,
      ...pins,
      '--block-hash',
      anchor.block_hash,
      '--json',
    ])
    expect([good.code, JSON.parse(good.stdout).checks.length]).toEqual([0, 10])
    const bad = await run(process.execPath, [verifier, file, '--chain-id', '1'])
    expect([bad.code, bad.stdout.includes('REFUSED')]).toEqual([1, true])
  })

  test('takes a network file, refuses a bundle of another one, and ends with 2 if the file pins nothing', async () => {
    expect(
      await wrongNetworks((network, file) =>
        run(process.execPath, [verifier, file, '--network', network]),
      ),
    ).toEqual([])
  })

  test('shows what is in a refused file as text, not as orders to the terminal', async () => {
    using folder = temporaryFolder()
    const bundle = { ...JSON.parse(sampleText('in-a-city')), [hostileText]: 1 }
    for (const text of [`${JSON.stringify(bundle)}\n`, `{"a": ${hostileText}}\n`]) {
      const hostile = join(folder.path, 'hostile.json')
      writeFileSync(hostile, text)
      const inWords = await run(process.execPath, [verifier, hostile])
      const asJson = await run(process.execPath, [verifier, hostile, '--json'])
      for (const { code, stdout } of [inWords, asJson])
        expect([code, terminalCodes.exec(stdout)]).toEqual([1, null])
      expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: false })
    }
  })

  test.each([
    { what: 'without a file', args: [] },
    { what: 'with an option it does not know', args: [file, '--trust-me'] },
    { what: 'with a file that is not there', args: ['missing.airproof.json'] },
  ])('ends with 2 $what', async ({ args }) => {
    const { code, stderr } = await run(process.execPath, [verifier, ...args])
    expect(code).toBe(2)
    expect(stderr).not.toBe('')
  })
})

describe.skipIf(noPython !== '')(`the verifier in Python${noPython}`, () => {
  const script = 'examples/verify-python/verify.py'

  test('proves the same bundles', async () => {
    const { code, stdout } = await run('python3', [script, ...sampleNames.map(sampleFile)])
    expect(code).toBe(0)
    expect(stdout.match(/: proven, on a demonstration chain$/gm)).toHaveLength(sampleNames.length)
    for (const { words, samples } of trustsOfSamples)
      expect(stdout.split(words)).toHaveLength(samples.length + 1)
  })

  test('refuses the same tampered ones, at the same check', async () => {
    using folder = temporaryFolder()
    const files = tampered.map(({ text }, n) => {
      const path = join(folder.path, `${n}.airproof.json`)
      writeFileSync(path, text)
      return path
    })
    const { code, stdout } = await run('python3', [script, ...files])
    expect(code).toBe(1)
    const printed = stdout
      .trim()
      .split('\n')
      .map((line) => /: refused, ([a-z ]+):/.exec(line)?.[1])
    expect(printed).toEqual(tampered.map(({ check }) => check))
  })

  test('takes and refuses the same network files', async () => {
    expect(
      await wrongNetworks((network, file) => run('python3', [script, '--network', network, file])),
    ).toEqual([])
  })

  test('pins what it is asked to', async () => {
    const file = sampleFile('alone')
    for (const [option, value] of [
      ['--chain-id', '1'],
      ['--contract', `0x${'00'.repeat(20)}`],
      ['--block-hash', `0x${'00'.repeat(32)}`],
    ] as const) {
      expect((await run('python3', [script, option, value, file])).code).toBe(1)
    }
  })
})
