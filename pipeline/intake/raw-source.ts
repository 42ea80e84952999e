/** The raw messages of one partition as batches: when one is cut, and when all there was is taken. */
import { setTimeout as pause } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { TryAgain } from '../../runtime/exit.ts'
import { rawStream } from '../../schemas/subjects.ts'
import type { Beat } from './beat.ts'
import { batchMessages, type RawBatch, type RawMessage } from './raw-message.ts'
import { RawPull } from './raw-pull.ts'

export type RawSource = AsyncDisposable & {
  /**
   * The next messages: waits for one, then takes what is there until the batch is full, or until
   * those before are done, it is the beat, and nothing more waits on the server. undefined after dispose.
   * @param idle resolves when the batches before are done; absent: nothing is known of them
   * @throws TryAgain when the stream has come back older; what was pulled of it before is taken first
   */
  readonly next: (idle?: Promise<void>) => Promise<RawBatch | undefined>
  /** When everything the stream held had last been taken by `next`; a heartbeat ago at most, if that is so. */
  readonly lastAtEndMs: () => number
}

type Options = {
  readonly partition: number
  readonly fromSeq: number
  /** ms, monotonic */
  readonly nowMs: () => number
  /** Shared by the partitions of a process. */
  readonly beat: Beat
  readonly onRestart?: (why: string) => void
}

/** A batch is full at this many bytes too. */
const batchBytes = 1024 * 1024
/** Longest wait for messages that the server says it holds: it may be slow and say nothing. */
const lingerMs = 20
/** A request in flight when the server dies is lost, and nothing goes on until it is given up. */
const requestTimeoutMs = 1_500

export async function openRawSource(nc: NatsConnection, options: Options): Promise<RawSource> {
  const manager = await jetstreamManager(nc, { timeout: requestTimeoutMs })
  const { partition, fromSeq, nowMs, beat, onRestart = () => undefined } = options
  const stream = rawStream(partition)
  const held = new HeldRaws()
  const sleeper = new Sleeper()
  const { wake } = sleeper
  const onRaw = (raw: RawMessage): void => held.push(raw)
  const pull = new RawPull({ nc, manager, stream, fromSeq, onRaw, held, nowMs, onRestart, wake })
  await pull.open()
  return new PulledSource({ held, pull, stream, sleeper, beat, nowMs })
}

/** Raw messages that were pulled and are in no batch yet, in order. */
class HeldRaws {
  #messages: RawMessage[] = []
  #bytes = 0

  get count(): number {
    return this.#messages.length
  }

  get bytes(): number {
    return this.#bytes
  }

  push(raw: RawMessage): void {
    this.#messages.push(raw)
    this.#bytes += raw.data.length
  }

  isFull(): boolean {
    return this.#messages.length >= batchMessages || this.#bytes >= batchBytes
  }

  /** Takes a batch out: the first messages, at least one of them however large it is. */
  cut(): RawBatch {
    let bytes = 0
    let count = 0
    for (const { data } of this.#messages) {
      if (count === batchMessages || (count > 0 && bytes + data.length > batchBytes)) break
      bytes += data.length
      count++
    }
    const batch = this.#messages.slice(0, count)
    this.#messages = this.#messages.slice(count)
    this.#bytes -= bytes
    return batch
  }
}

/** One wait at a time. */
class Sleeper {
  #isOver: () => boolean = () => false
  #end: () => void = () => undefined
  /** Something has come: most of it ends no wait, and costs no promise and no timer. */
  readonly wake = (): void => {
    if (this.#isOver()) this.#end()
  }

  /** Until `isOver`, which is asked whenever `wake` is called, or until the moment. */
  sleep(isOver: () => boolean, moment?: Promise<unknown>): Promise<void> {
    if (isOver()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#isOver = isOver
      this.#end = resolve
      void moment?.then(() => resolve())
    })
  }
}

type Parts = {
  readonly held: HeldRaws
  readonly pull: RawPull
  readonly stream: string
  readonly sleeper: Sleeper
  readonly beat: Beat
  readonly nowMs: () => number
}

class PulledSource implements RawSource {
  readonly #parts: Parts
  #atEndMs = -Infinity
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly next = async (idle?: Promise<void>): Promise<RawBatch | undefined> => {
    const { held, pull, stream, sleeper, beat } = this.#parts
    const isFull = (): boolean => held.isFull() || this.#isClosed
    await sleeper.sleep(() => held.count > 0 || pull.isOlder || this.#isClosed)
    if (held.count === 0 && pull.isOlder && !this.#isClosed)
      throw new TryAgain(
        `${stream} has come back older than what was judged of it: starting again from the log`,
      )
    if (idle !== undefined) await sleeper.sleep(isFull, idle)
    if (!isFull()) await sleeper.sleep(isFull, beat.next())
    if (!isFull() && pull.pending > 0) {
      pull.ask()
      await sleeper.sleep(() => isFull() || pull.pending === 0, pause(lingerMs))
    }
    return this.#isClosed ? undefined : this.#cut()
  }

  readonly lastAtEndMs = (): number => {
    const { held, pull } = this.#parts
    const heardMs = pull.heardMs()
    // no later than the server's last answer: what it has stored since is unknown
    if (heardMs !== undefined && held.count === 0 && pull.pending === 0)
      this.#atEndMs = Math.max(this.#atEndMs, heardMs)
    return this.#atEndMs
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#parts.sleeper.wake()
    await this.#parts.pull[Symbol.asyncDispose]()
  }

  #cut(): RawBatch {
    const { held, pull, nowMs } = this.#parts
    const batch = held.cut()
    if (held.count === 0 && pull.pending === 0) this.#atEndMs = nowMs()
    pull.ask()
    return batch
  }
}
