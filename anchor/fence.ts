/**
 * A process that hangs while an operator deploys another contract goes on afterwards with the former one.
 * What it writes must not come among what is written for the new contract. One rule:
 *
 * **A write that depends on the contract names the revision that was read, and asks after that, before
 * it writes, whether a newer contract was deployed.**
 *
 *     read r ──▶ no newer contract ──▶ (it hangs; the contract is deployed; `sealAgain`) ──▶ write at r
 *
 * Who begins with a new contract gives each entry that a process of the former one may be about to write
 * another revision, in `sealAgain`, before anything else. So the write above is refused, or it came before
 * that and was found.
 */
import type { JetStreamClient } from '@nats-io/jetstream'
import type { KV, KvEntry } from '@nats-io/kv'
import { headers } from '@nats-io/transport-node'
import { unlessOvertaken } from '../runtime/nats/cas.ts'
import { type AnyDeployment, deploymentKeyOf, nextPlace } from '../schemas/anchoring/deployments.ts'
import { ContractChanged } from './contract-changed.ts'

/** @throws ContractChanged a contract was deployed after those that the process knows */
export type Fence = () => Promise<void>

/**
 * @param anchoring the bucket
 * @param deployments all that the process knows: it may work for one before the newest of them
 */
export const openFence =
  (anchoring: Pick<KV, 'get'>, deployments: readonly AnyDeployment[]): Fence =>
  async () => {
    const next = await anchoring.get(deploymentKeyOf(nextPlace(deployments)))
    if (next?.operation !== 'PUT') return
    throw new ContractChanged(
      'another contract was deployed while this process worked for the one before: it writes nothing more, and begins again',
    )
  }

/** Another process wrote the entry meanwhile: look again. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

export const overtaken = (key: string): Overtaken => new Overtaken(`${key} was written by another`)

type At = { readonly previousSeq?: number }

/** A bucket, each of whose writes is refused once there is a newer contract. */
export type FencedBucket = {
  readonly get: (key: string) => Promise<KvEntry | null>
  /** @returns the revision @throws ContractChanged */
  readonly put: (key: string, text: string, at?: At) => Promise<number>
  /** @throws ContractChanged */
  readonly delete: (key: string, at?: At) => Promise<void>
  /**
   * The entry has no value, and another revision than was read, also where there was none: KV itself
   * deletes at no revision 0. @throws Overtaken, ContractChanged
   */
  readonly clear: (key: string, read: KvEntry | null) => Promise<void>
}

type Options = { readonly js: JetStreamClient; readonly kv: KV; readonly fence: Fence }

export async function fencedBucket({ js, kv, fence }: Options): Promise<FencedBucket> {
  const { bucket } = await kv.status()
  return {
    get: (key) => kv.get(key),
    put: async (key, text, at) => {
      await fence()
      return await kv.put(key, text, at)
    },
    delete: async (key, at) => {
      await fence()
      await kv.delete(key, at)
    },
    clear: async (key, read) => {
      await fence()
      const marker = headers()
      marker.set('KV-Operation', 'DEL')
      const expect = { lastSubjectSequence: read?.revision ?? 0 }
      const cleared = js.publish(`$KV.${bucket}.${key}`, '', { headers: marker, expect })
      if ((await unlessOvertaken(cleared)) === 'overtaken') throw overtaken(key)
    },
  }
}

/** Writes an entry if it is still what was read just now. @throws Overtaken, ContractChanged */
export async function putRead(
  bucket: Pick<FencedBucket, 'get' | 'put'>,
  key: string,
  value: object,
): Promise<void> {
  const read = await bucket.get(key)
  const put = bucket.put(key, JSON.stringify(value), { previousSeq: read?.revision ?? 0 })
  if ((await unlessOvertaken(put)) === 'overtaken') throw overtaken(key)
}
