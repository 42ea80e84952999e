import { jetstream } from '@nats-io/jetstream'
import { runSealer, type SealerOptions } from '../../../anchor/seal/sealer.ts'
import { beforeFirst } from '../../../core/proof/batch.ts'
import { createKeccak } from '../../../runtime/hashes/keccak.ts'
import type { AnchorNetwork } from './anchor-network.ts'

const keccak = await createKeccak()

export type Sealing = AsyncDisposable & {
  /** Rejects when the sealer cannot continue. */
  readonly running: Promise<void>
}

/** A sealer on the network's log that runs until disposed. */
export function sealing(
  { nc, batches, deployment }: AnchorNetwork,
  over: Partial<SealerOptions> = {},
): Sealing {
  const stop = new AbortController()
  const running = runSealer({
    nc,
    js: jetstream(nc),
    keccak,
    batches,
    start: beforeFirst(deployment.chainId, deployment.contract, keccak),
    intervalMs: 50,
    maxReadings: 10_000,
    beacon: () => undefined,
    nowMs: Date.now,
    onSealed: () => undefined,
    onBorder: () => Promise.resolve(),
    stop: stop.signal,
    ...over,
  })
  running.catch(() => undefined)
  return {
    running,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await Promise.allSettled([running])
    },
  }
}
