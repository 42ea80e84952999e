import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { offer, raise } from '../../anchor/chain/fees.ts'
import { answerOf } from '../../anchor/chain/send-answer.ts'
import { readAnchorConfig } from '../../anchor/config.ts'
import { ensureKeyFile, readKeyFile } from '../../anchor/deploy/key-file.ts'
import { batchContent } from '../../anchor/seal/batch-content.ts'
import { fromBytes, keepFrom } from '../../anchor/trim.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { decodeBlobTop, encodeBlobTop, tileOf } from '../../schemas/anchoring/batch-blob.ts'
import answers from '../fixtures/send-answers.json' with { type: 'json' }
import { temporaryFolder } from '../support/temporary-folder.ts'

const keccak = await createKeccak()
const wei = fc.bigInt({ min: 0n, max: 10n ** 12n })
const rules = { capWei: 10n ** 11n, bumpAfterMs: 1 }

describe('fees', () => {
  test('an offer never exceeds the cap, and pays what the block asks', () => {
    fc.assert(
      fc.property(wei, wei, (baseFee, tip) => {
        const fees = offer({ baseFee, tip }, rules)
        expect(fees === undefined).toBe(baseFee + tip > rules.capWei)
        if (fees === undefined) return
        expect(fees.maxFeePerGas <= rules.capWei).toBe(true)
        expect(fees.maxFeePerGas >= baseFee + tip).toBe(true)
      }),
    )
  })

  test('a raise is an eighth at least on both fees, or none: above the cap', () => {
    fc.assert(
      fc.property(wei, wei, wei, wei, (maxFeePerGas, maxPriorityFeePerGas, baseFee, tip) => {
        const raised = raise({ maxFeePerGas, maxPriorityFeePerGas }, { baseFee, tip }, rules)
        if (raised === undefined) return
        expect(raised.maxFeePerGas * 8n >= maxFeePerGas * 9n).toBe(true)
        expect(raised.maxPriorityFeePerGas * 8n >= maxPriorityFeePerGas * 9n).toBe(true)
        expect(raised.maxFeePerGas > maxFeePerGas).toBe(true)
        expect(raised.maxFeePerGas <= rules.capWei).toBe(true)
      }),
    )
  })
})

test.each(answers.answers)('$node: "$words" is $answer', ({ words, answer }) => {
  expect(answerOf(words)).toBe(answer)
})

describe('the key file', () => {
  test('is made once, for its owner alone, and read again', () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'anchor.key')
    const { address } = ensureKeyFile(file)
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    expect(ensureKeyFile(file).address).toBe(address)
    expect(readKeyFile(file).address).toBe(address)
  })

  test.each([0o640, 0o604, 0o644, 0o660])('is refused with mode %o', (mode) => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'anchor.key')
    ensureKeyFile(file)
    chmodSync(file, mode)
    expect(() => readKeyFile(file)).toThrow(/others may read it/)
  })

  test.each(['', 'nothing', `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`, `0x${'1'.repeat(63)}`])(
    'with "%s" in it is refused, and the message does not show it',
    (content) => {
      using folder = temporaryFolder()
      const file = join(folder.path, 'anchor.key')
      writeFileSync(file, content, { mode: 0o600 })
      const printed = (() => {
        try {
          return `accepted ${readKeyFile(file).address}`
        } catch (error) {
          return error instanceof Error ? `${error.message} ${String(error.cause)}` : ''
        }
      })()
      expect(printed).toContain(file)
      expect(content.length > 8 && printed.includes(content.slice(2))).toBe(false)
      expect(readFileSync(file, 'utf8')).toBe(content)
    },
  )
})

describe('what of the log is kept', () => {
  const busy = { last: 100, snapshot: { seq: 90, store: 80, lateTo: 85 } }
  const bounds = {
    finalLast: 95,
    partitions: [busy],
    rollUp: 94,
    needs: [],
    needsFrom: 1,
    clientsFrom: 101,
  }

  test('begins behind the least of what everybody has done', () => {
    expect(keepFrom(bounds)).toBe(81)
    expect(keepFrom({ ...bounds, finalLast: 40 })).toBe(41)
    expect(keepFrom({ ...bounds, rollUp: 50 })).toBe(51)
    expect(keepFrom({ ...bounds, needs: [60, 30] })).toBe(30)
  })

  test('is for others no older than they may need it, whatever they say', () => {
    expect(keepFrom({ ...bounds, needs: [1], needsFrom: 60 })).toBe(60)
    expect(keepFrom({ ...bounds, needs: [70], needsFrom: 60 })).toBe(70)
    // nothing is so young
    expect(keepFrom({ ...bounds, needs: [1], needsFrom: 101 })).toBe(81)
  })

  test('is for clients as long as they may need it, and never less than others need', () => {
    expect(keepFrom({ ...bounds, clientsFrom: 30 })).toBe(30)
    expect(keepFrom({ ...bounds, clientsFrom: 1 })).toBe(1)
    expect(keepFrom({ ...bounds, clientsFrom: 90 })).toBe(81)
  })

  test('is within a number of bytes for clients', () => {
    const held = { first_seq: 11, last_seq: 110, bytes: 1_000 }
    expect(fromBytes(held, 1_000)).toBe(11)
    expect(fromBytes(held, 250)).toBe(86)
    expect(fromBytes(held, 0)).toBe(111)
    expect(fromBytes({ first_seq: 1, last_seq: 0, bytes: 0 }, 0)).toBe(1)
  })

  test('always holds the last message of every partition that has one', () => {
    const quiet = { last: 7, snapshot: { seq: 7, store: 7, lateTo: 7 } }
    expect(keepFrom({ ...bounds, partitions: [busy, quiet] })).toBe(7)
    const never = { last: undefined, snapshot: undefined }
    expect(keepFrom({ ...bounds, partitions: [busy, never] })).toBe(81)
  })

  test('is everything while a partition has no snapshot', () => {
    const young = { last: 3, snapshot: undefined }
    expect(keepFrom({ ...bounds, partitions: [busy, young] })).toBe(1)
  })
})

describe('a batch as it is read', () => {
  const message = (nLast: number, readings: LogMessage['readings'] = []): LogMessage => ({
    partition: 0,
    worker: 'w',
    rawLast: 0,
    rawLastTimeMs: 0,
    nLast,
    lateTo: 0,
    listenedMs: 0,
    readings,
    events: [],
    held: [],
    deferred: [],
    refused: [],
    duplicates: [],
  })

  test('refuses a hole in the log', () => {
    const content = batchContent({ last: 4, nLast: [] }, keccak)
    content.add(5, message(0))
    expect(() => content.add(7, message(0))).toThrow(/from 5 to 7/)
  })

  test('refuses numbers that do not go on from what is anchored', () => {
    const content = batchContent({ last: 4, nLast: [9] }, keccak)
    expect(() => content.add(5, message(8))).toThrow(/does not go on/)
  })
})

describe('the top of a blob', () => {
  const hash = (text: string): Uint8Array => keccak(new TextEncoder().encode(text))
  const sorted = Array.from({ length: 600 }, (_, i) => hash(`leaf ${i}`)).toSorted((a, b) =>
    Buffer.compare(a, b),
  )
  const firsts = [0, 256, 512].map((at) => sorted[at] ?? hash(''))
  const top = { header: hash('header'), leaves: 600, roots: ['a', 'b', 'c'].map(hash), firsts }

  test('comes back as it was written', () => {
    const back = decodeBlobTop(encodeBlobTop(top))
    expect(back.leaves).toBe(600)
    expect(Buffer.from(back.header)).toEqual(Buffer.from(top.header))
    expect(back.roots.map((root) => Buffer.from(root))).toEqual(
      top.roots.map((root) => Buffer.from(root)),
    )
  })

  test('says for each leaf in which tile it is', () => {
    expect(sorted.map((leaf) => tileOf(top, leaf))).toEqual(
      sorted.map((_, at) => Math.floor(at / 256)),
    )
    expect(tileOf(top, new Uint8Array(32))).toBeUndefined()
  })

  test.each([4, 20, 40])('of %i bytes is refused', (length) => {
    expect(() => decodeBlobTop(encodeBlobTop(top).subarray(0, length))).toThrow(RangeError)
  })
})

test('settings name the variable that is wrong', () => {
  const read = (env: Record<string, string>) => readAnchorConfig({ env, flags: {} }, '/data')
  expect(() => read({ ANCHOR_CONTRACT: '0x12' })).toThrow(/ANCHOR_CONTRACT/)
  expect(() => read({ CHAIN_RPC_URL: 'ws://x' })).toThrow(/CHAIN_RPC_URL/)
  expect(() => read({ ANCHOR_INTERVAL: 'soon' })).toThrow(/ANCHOR_INTERVAL/)
  expect(read({ CHAIN_RPC_URL: 'http://a, http://b/key' })).toMatchObject({
    rpcUrls: ['http://a', 'http://b/key'],
    keyFile: join('/data', 'anchor.key'),
    intervalMs: 600_000,
  })
})
