/** What follows from an anchor that is final: its proof, its record, and one event. */
import type { JetStreamClient } from '@nats-io/jetstream'
import { seqOf } from '../../core/air/reading.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { secondMs } from '../../core/time.ts'
import { unlessOvertaken } from '../../runtime/nats/cas.ts'
import { readStored } from '../../runtime/nats/stored-message.ts'
import { endSpan, type SeqRange, type SpanFacts } from '../../runtime/trace.ts'
import { type AnchoredEvent, parseAnchoredEvent } from '../../schemas/anchoring/batch-record.ts'
import type { AnyDeployment } from '../../schemas/anchoring/deployments.ts'
import { anchoredSubject, eventsStream } from '../../schemas/subjects.ts'
import { buildChainProof } from '../chain/bundle.ts'
import type { Chain, Look } from '../chain/chain.ts'
import type { Anchored } from '../contract/registry.ts'
import { type Fence, type FencedBucket, putRead } from '../fence.ts'
import type { SealedBatches } from '../sealed-batches.ts'

type FinishOptions = {
  readonly chain: Pick<Chain, 'ask' | 'block'>
  readonly deployment: AnyDeployment
  readonly batches: Pick<SealedBatches, 'get' | 'putAnchored'>
  readonly proofs: FencedBucket
  readonly fence: Fence
  readonly js: JetStreamClient
  readonly nowMs: () => number
}

/** @returns a step that changes nothing the second time; false: the chain has changed, look again */
export function createFinish(options: FinishOptions) {
  const { chain, deployment, batches, proofs, js, fence, nowMs } = options
  return async (anchored: Anchored, { finalized }: Look): Promise<boolean> => {
    const { index, txHash, blockHash, blockNumber } = anchored
    const block = await chain.block(blockNumber)
    if (block?.hash !== blockHash) return false
    const { chainId, contract } = deployment
    const proof = await buildChainProof({ ask: chain.ask, chainId, contract, txHash })
    if (proof?.blockHash !== blockHash) return false
    await putRead(proofs, String(index), proof)
    await batches.putAnchored({
      index,
      status: 'final',
      tx: txHash,
      block: blockNumber,
      blockHash,
      blockTimeS: block.timeS,
      finalized,
      checkedMs: nowMs(),
    })
    await tellOnce(js, eventOf(anchored, deployment, block.timeS), fence)
    const header = batches.get(index)?.header
    if (header) endSpan('anchor', header.sealedMs, () => factsOf(header, anchored))
    return true
  }
}

const mostNamed = 128

/** From its sealing to here: mostly the chain's time. */
const factsOf = (
  { index, first, last, nFirst, nLast }: BatchHeader,
  { txHash, blockNumber }: Anchored,
): SpanFacts => ({
  // a span links to no more than these
  log: Array.from({ length: Math.min(last - first + 1, mostNamed) }, (_, at) => first + at),
  seqs: nFirst.flatMap((from, partition): SeqRange[] => {
    const to = nLast[partition] ?? 0
    return to < from ? [] : [[seqOf(partition, from), seqOf(partition, to)]]
  }),
  attributes: {
    'airproof.log.last': last,
    'airproof.batch': index,
    'airproof.tx': txHash,
    'airproof.block': blockNumber,
  },
})

const eventOf = (anchored: Anchored, deployment: AnyDeployment, timeS: number): AnchoredEvent => ({
  id: `anchored-${anchored.index}`,
  kind: 'anchored',
  index: anchored.index,
  first: anchored.first,
  last: anchored.last,
  count: anchored.count,
  root: anchored.root,
  head: anchored.head,
  chain_id: deployment.chainId,
  contract: deployment.contract,
  tx: anchored.txHash,
  block: anchored.blockNumber,
  block_hash: anchored.blockHash,
  timestamp: formatIso(timeS * secondMs),
})

/**
 * Once for each contract that the batch was anchored in. The second report takes the place of the first:
 * it has the same id, so a reader that knows the id ignores it.
 */
async function tellOnce(js: JetStreamClient, event: AnchoredEvent, fence: Fence): Promise<void> {
  const subject = anchoredSubject(event.index)
  const manager = await js.jetstreamManager(false)
  for (;;) {
    const last = await readStored(manager, eventsStream, { last_by_subj: subject })
    // by us before a crash or a reorganisation
    if (last !== undefined && parseAnchoredEvent(last.data)?.contract === event.contract) return
    await fence()
    const expect = { lastSubjectSequence: last?.seq ?? 0 }
    const published = await unlessOvertaken(js.publish(subject, JSON.stringify(event), { expect }))
    if (published !== 'overtaken') return
  }
}
