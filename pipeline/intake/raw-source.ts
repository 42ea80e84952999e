/** The raw messages of one partition as batches: when one is cut, and when all there was is taken. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { TryAgain } from '../../runtime/exit.ts'
import { rawStream } from '../../schemas/subjects.ts'
import { batchMessages, type RawBatch, type RawMessage } from './raw-message.ts'
import { RawPull } from './raw-pull.ts'

export type RawSource = AsyncDisposable & {
  /**
   * The next messages: waits for one, then takes what is there until the batch is full or nothing
   * more waits on the server, and the last one is a little while ago. undefined after dispose.
   * @throws TryAgain when the stream has come back older; what was pulled of it before is taken first
   */
  readonly next: () => Promise<RawBatch | undefined>
  /** When everything the stream held had last been taken by `next`; a heartbeat ago at most, if that is so. */
  readonly lastAtEndMs: () => number
}

type Options = {
  readonly partition: number
  readonly fromSeq: number
  /** ms, monotonic */
  readonly nowMs: () => number
  readonly onRestart?: (why: string) => void
}

/** A batch is full at this many bytes too. */
const batchBytes = 1024 * 1024
/** Longest wait for messages that the server says it holds: it may be slow and say nothing. */
const lingerMs = 20
/**
 * Batches that are not full are at least so far apart. A commit costs the same for one reading as
 * for a hundred, so at a few thousand readings a second the server would do nothing but commit;
 * the first reading after a pause still goes at once.
 */
const spacingMs = 14
/** A request in flight when the server dies is lost, and nothing goes on until it is given up. */
const requestTimeoutMs = 1_500

export async function openRawSource(nc: NatsConnection, options: Options): Promise<RawSource> {
  const manager = await jetstreamManager(nc, { timeout: requestTimeoutMs })
  const { partition, fromSeq, nowMs, onRestart = () => undefined } = options
  const stream = rawStream(partition)
  const held = new HeldRaws()
  const sleeper = new Sleeper()
  const { wake } = sleeper
  const onRaw = (raw: RawMessage): void => held.push(raw)
  const pull = new RawPull({ nc, manager, stream, fromSeq, onRaw, held, nowMs, onRestart, wake })
  await pull.open()
  return new PulledSource({ held, pull, stream, sleeper, nowMs })
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

/** One wait at a time, which `wake` ends. */
class Sleeper {
  #end: () => void = () => undefined
  readonly wake = (): void => this.#end()

  sleep(timeoutMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs)
      this.#end = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

type Parts = {
  readonly held: HeldRaws
  readonly pull: RawPull
  readonly stream: string
  readonly sleeper: Sleeper
  readonly nowMs: () => number
}

class PulledSource implements RawSource {
  readonly #parts: Parts
  #lastCutMs = -Infinity
  #atEndMs = -Infinity
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly next = async (): Promise<RawBatch | undefined> => {
    const { held, pull, stream, sleeper, nowMs } = this.#parts
    while (held.count === 0 && !this.#isClosed && !pull.isOlder) await sleeper.sleep()
    if (held.count === 0 && pull.isOlder && !this.#isClosed)
      throw new TryAgain(
        `${stream} has come back older than what was judged of it: starting again from the log`,
      )
    const fromMs = this.#lastCutMs + spacingMs
    while (!held.isFull() && nowMs() < fromMs && !this.#isClosed)
      await sleeper.sleep(fromMs - nowMs())
    const untilMs = nowMs() + lingerMs
    while (!held.isFull() && pull.pending > 0 && nowMs() < untilMs && !this.#isClosed) {
      pull.ask()
      await sleeper.sleep(untilMs - nowMs())
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
    this.#lastCutMs = nowMs()
    const batch = held.cut()
    if (held.count === 0 && pull.pending === 0) this.#atEndMs = nowMs()
    pull.ask()
    return batch
  }
}
