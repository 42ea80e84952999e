import { nodeBytes, tileLeaves } from '../../core/proof/tree.ts'

const blockBytes = tileLeaves * nodeBytes

/** Leaves side by side, in blocks, so that nothing is copied when there are more. */
export type LeafList = {
  readonly add: (leaves: Uint8Array) => void
  /** As many leaves as a block has, and what is left. */
  readonly blocks: () => readonly Uint8Array[]
}

export function leafList(): LeafList {
  const blocks: Buffer[] = []
  let length = 0
  return {
    add: (leaves) => {
      for (let from = 0; from < leaves.length; ) {
        const at = length % blockBytes
        const block = at === 0 ? Buffer.allocUnsafeSlow(blockBytes) : blocks.at(-1)
        if (block === undefined) throw new RangeError('a list without its last block')
        if (at === 0) blocks.push(block)
        const part = leaves.subarray(from, from + blockBytes - at)
        block.set(part, at)
        from += part.length
        length += part.length
      }
    },
    blocks: () =>
      blocks.map((block, at) => block.subarray(0, Math.min(blockBytes, length - at * blockBytes))),
  }
}

/** The leaves of all lists, one list after the other, 256 at a time; new bytes each time. */
export function* tilesOf(lists: readonly LeafList[]): Generator<Uint8Array, void> {
  let tile = Buffer.allocUnsafeSlow(blockBytes)
  let filled = 0
  for (const block of lists.flatMap((list) => list.blocks())) {
    for (let from = 0; from < block.length; ) {
      const part = block.subarray(from, from + blockBytes - filled)
      tile.set(part, filled)
      from += part.length
      filled += part.length
      if (filled < blockBytes) continue
      yield tile
      tile = Buffer.allocUnsafeSlow(blockBytes)
      filled = 0
    }
  }
  if (filled > 0) yield tile.subarray(0, filled)
}
