/** Proves a run of the archive from the bytes on the disk, as `airproof verify` does, and from our own records. */
import { isDeepStrictEqual } from 'node:util'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Keccak } from '../core/proof/leaf.ts'
import type { CatalogueRun } from '../operate/archive/catalogue.ts'
import { readRun } from '../operate/archive/check-archive.ts'
import { checkArchiveRun } from '../operate/archive/check-archive-run.ts'
import type { RunManifest } from '../operate/archive/run-manifest.ts'
import { refuse } from '../operate/exports/check-run.ts'
import { createBatchIndex } from '../operate/proofs/batch-index.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { readDeployments } from '../runtime/nats/read-deployments.ts'
import {
  anchoredKey,
  headerKey,
  parseAnchored,
  parseSealed,
} from '../schemas/anchoring/batch-record.ts'
import { buckets } from '../schemas/subjects.ts'

type Options = { readonly nc: NatsConnection; readonly folder: string; readonly keccak: Keccak }

/**
 * Every file is read and hashed, every leaf made again and led to the roots; and the batches are those that
 * are final in the contract that counts for them now.
 * @throws Refusal
 */
export async function proveRun(
  listed: CatalogueRun,
  { nc, folder, keccak }: Options,
): Promise<RunManifest> {
  const manifest = await readRun(folder, listed)
  await checkArchiveRun(manifest, { folder, keccak, pins: {} })
  const kvm = new Kvm(nc)
  const batches = await kvm.open(buckets.batches)
  const index = createBatchIndex(keccak)
  index.putDeployments(await readDeployments(await kvm.open(buckets.anchoring)))
  for (const header of manifest.runs.flatMap(({ headers }) => headers)) {
    const sealed = parseSealed(await readEntry(batches, headerKey(header.index)))
    index.putSealed(header.index, sealed)
    index.putAnchored(
      header.index,
      parseAnchored(await readEntry(batches, anchoredKey(header.index))),
    )
    if (!isDeepStrictEqual({ ...sealed?.header }, { ...header }))
      refuse(`batch ${header.index} of run ${listed.run} is not as it was sealed`)
    if (index.anchored(header.index)?.status !== 'final')
      refuse(`batch ${header.index} of run ${listed.run} is not final in the contract that counts`)
  }
  return manifest
}
