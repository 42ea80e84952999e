/**
 * Asks the node that the reader names. The pages' content policy lets them ask our own server only;
 * the worker has a policy of its own, which lets it ask any node, and it does nothing else.
 */
import type { Network, Verification } from '../../../../anchor/verifier/airproof-verify.js'
import { answerOf, type NodeAnswer } from './verdict.ts'

export type Beacon = { readonly number: number; readonly timeMs: number }

type Answered = {
  readonly verification: Verification
  /** The block that the batch was sealed after, as the node has it; null: unknown to it. */
  readonly beacon: Beacon | null
}

export type Asked = NodeAnswer & { readonly beacon: Beacon | null }

const workerPath = '/ask-node.js'

type Question = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly network: Network
  readonly rpc: string
  /** Hash of a block; zero for none. */
  readonly beacon: string
}

export async function askNode(question: Question): Promise<Asked> {
  const worker = new Worker(workerPath, { type: 'module' })
  try {
    const { verification, beacon } = await new Promise<Answered>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Answered>) => resolve(data)
      worker.onerror = () => reject(new Error('the worker could not be started'))
      worker.postMessage(question)
    })
    return { ...answerOf(verification), beacon }
  } catch {
    return { kind: 'no answer', beacon: null }
  } finally {
    worker.terminate()
  }
}
