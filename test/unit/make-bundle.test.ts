import { expect, test } from 'vitest'
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { toHex } from '../../core/hex.ts'
import { deviceHash } from '../../core/proof/device-hash.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import { createMakeBundle } from '../../operate/proofs/make-bundle.ts'
import type { Verdict } from '../../operate/proofs/prove-reading.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import fixture from '../fixtures/proofs-2/batches.json' with { type: 'json' }
import { createSigner, textOf } from '../support/device-signer.ts'
import { readingOf } from '../support/readings.ts'

const keccak = await createKeccak()
const header = {
  ...fixture.batches.find(({ version }) => version === 2)?.header,
  version: 2,
} as unknown as BatchHeader
const blockHash = toHex(keccak(new Uint8Array(1)))
const anchored = {
  index: header.index,
  status: 'final' as const,
  tx: blockHash,
  block: 7,
  blockHash,
  blockTimeS: 1_769_835_900,
  finalized: null,
  checkedMs: 0,
}
const makeBundle = createMakeBundle({
  index: { anchored: () => anchored },
  chainProofOf: async () => ({
    chainId: 31_337,
    contract: `0x${'0'.repeat(40)}`,
    txHash: blockHash,
    txIndex: 0,
    blockHash,
    blockNumber: 7,
    blockTimeS: 1_769_835_900,
  }),
  keccak,
  nowMs: () => 0,
})
const verdict: Verdict = {
  status: 'verified',
  hash: blockHash,
  proof: { header, path: [], leafIndex: 0 },
  anchored,
  checked: { index: header.index } as unknown as Extract<
    Verdict,
    { status: 'verified' }
  >['checked'],
}
const plain = { ...readingOf({ pm25: 4_530 }), leafVersion: 2 as const }
const never = async (): Promise<undefined> => {
  throw new Error('it was asked for a signature')
}

function signedWith(algorithm: 'ed25519' | 'p256') {
  const { publicKey, sign } = createSigner(algorithm)
  const text = textOf(plain.sensor, plain.timeMs, [['pm25', '45.30']])
  const signature = sign(text).toString('base64')
  const signed: DeviceSignature = { algorithm, publicKey, signature, text }
  return { signed, reading: { ...plain, device: deviceHash(signed, keccak) } }
}

test.each(['ed25519', 'p256'] as const)(
  'the bundle of a reading signed with %s has key, signature and text, under the hash that its leaf has',
  async (algorithm) => {
    const { signed, reading } = signedWith(algorithm)
    const text = (await makeBundle(reading, verdict, async () => signed)) ?? ''
    const bundle = JSON.parse(text) as { reading_hash: string; reading: { device: object } }
    expect(bundle.reading.device).toEqual({
      algorithm,
      public_key: signed.publicKey,
      signature: signed.signature,
      text: signed.text,
    })
    expect(bundle.reading_hash).toBe(toHex(leafOf(reading, keccak)))
    // another signature is another leaf
    expect(bundle.reading_hash).not.toBe(toHex(leafOf(plain, keccak)))
    const unsigned = (await makeBundle(plain, verdict, never)) ?? ''
    expect(text.length - unsigned.length).toBeLessThan(400)
    expect(JSON.parse(unsigned)).toMatchObject({ reading: { device: null } })
  },
)

test('without what its device signed, a signed reading has no bundle: nobody could check it', async () => {
  const { reading } = signedWith('p256')
  await expect(makeBundle(reading, verdict, async () => undefined)).rejects.toThrow(
    /no signature of reading 1, which is signed/,
  )
})
