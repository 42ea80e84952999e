import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { toHex } from '../../core/hex.ts'
import { headerHash } from '../../core/proof/header.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import { foldPath, merkleTree, nodeHash, tiledPath } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { openBatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { tileOf } from '../../schemas/anchoring/batch-blob.ts'
import { buckets } from '../../schemas/subjects.ts'
import { oneEach } from '../support/chain/anchor-network.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { sealing } from '../support/chain/sealing.ts'
import { sharedChain } from '../support/chain/shared-chain.ts'
import { eventually } from '../support/eventually.ts'

const keccak = await createKeccak()
const chain = sharedChain()

test('readings of the log become final anchors, and each is proven from its blob', async () => {
  await using network = await chain.network()
  const { nc } = network
  const log = logWriter(nc)
  const { batches } = network
  {
    await using _ = sealing(network)
    for (let partition = 0; partition < 4; partition++)
      await log.write({ partition, readings: 300 })
    await eventually('all is sealed', () => batches.get(batches.last())?.header.last === 4)
  }
  const tick = await network.sender()
  await network.settle(tick)

  const anchors = await network.anchors()
  expect(await network.reported()).toEqual(oneEach(batches.last()))
  expect(anchors.reduce((sum, { count }) => sum + count, 0)).toBe(1_200)

  const blobs = await openBatchBlobs(nc)
  const proofs = await new Kvm(nc).open(buckets.proofs)
  for (const anchor of anchors) {
    const sealed = batches.get(anchor.index)
    const top = await blobs.top(anchor.index)
    if (sealed === undefined || top === undefined) throw new Error('no such batch')
    expect(toHex(keccak(top.header))).toBe(headerHash(sealed.header, keccak))
    expect(anchor.headerHash).toBe(sealed.headerHash)
    expect(batches.anchored(anchor.index)).toMatchObject({
      status: 'final',
      tx: anchor.txHash,
      blockHash: anchor.blockHash,
    })
    expect((await proofs.get(String(anchor.index)))?.json()).toMatchObject({
      txHash: anchor.txHash,
      tries: {},
    })
    const hash = nodeHash(keccak, 1)
    const { nFirst, nLast } = sealed.header
    const inside = log.written.filter(({ seq }) => {
      const [partition, n] = [Math.floor(seq / 2 ** 40), seq % 2 ** 40]
      return n >= (nFirst[partition] ?? 0) && n <= (nLast[partition] ?? 0)
    })
    expect(inside).toHaveLength(sealed.header.count)
    for (const reading of inside.slice(0, 5)) {
      const leaf = leafOf(reading, keccak)
      const at = tileOf(top, leaf) ?? -1
      const tile = (await blobs.tile(anchor.index, at)) ?? []
      const index = at * 256 + tile.findIndex((one) => Buffer.compare(one, leaf) === 0)
      const path = tiledPath({ tile, top: merkleTree(top.roots, hash), index }, hash)
      expect(toHex(foldPath(leaf, path, hash))).toBe(anchor.root)
    }
  }
})
