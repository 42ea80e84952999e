/** When a reading that is not anchored for good yet should be, by the settings and by experience. */
import { isDemonstrationChain } from '../../core/proof/demonstration-chain.ts'
import { minuteMs } from '../../core/time.ts'
import type { BatchIndex } from '../../operate/proofs/batch-index.ts'
import type { Verdict } from '../../operate/proofs/prove-reading.ts'

type Options = {
  readonly index: BatchIndex
  /** How long a batch stays open at most, as the anchor process is configured. */
  readonly intervalMs: number
  readonly nowMs: () => number
}

/** In ms since the epoch. What is late already is expected again from now. */
export type ExpectedBy = (verdict: Verdict) => number

/** Sealed to final on Ethereum, which is slower than most: where no batch of ours is final yet. */
const slowFinalityMs = 20 * minuteMs
/** The same on the chain of a demonstration. */
const quickFinalityMs = 2 * minuteMs

export function createExpectedBy({ index, intervalMs, nowMs }: Options): ExpectedBy {
  const firstFinalityMs = (): number => {
    const chainId = index.deployments().at(-1)?.chainId
    return chainId !== undefined && isDemonstrationChain(chainId) ? quickFinalityMs : slowFinalityMs
  }
  const finalityMs = (): number => {
    const anchored = index.anchored(index.checked()?.index ?? 0)
    const sealed = anchored && index.sealed(anchored.index)
    if (sealed === undefined || anchored?.status !== 'final') return firstFinalityMs()
    // of one that waited for a chain that was away nothing is to be learnt
    return Math.min(2 * slowFinalityMs, Math.max(0, anchored.checkedMs - sealed.header.sealedMs))
  }
  const notPast = (expectedMs: number, otherwiseMs: number): number =>
    expectedMs > nowMs() ? expectedMs : nowMs() + otherwiseMs
  return (verdict) => {
    if ('proof' in verdict) {
      const sealedMs = index.sealed(verdict.proof.header.index)?.header.sealedMs ?? 0
      return notPast(sealedMs + finalityMs(), finalityMs())
    }
    const takesMs = intervalMs + finalityMs()
    const lastMs = index.sealed(index.last())?.header.sealedMs ?? 0
    return notPast(lastMs + takesMs, takesMs)
  }
}
