/** Files of an archive over HTTP: resumed where a connection was lost, and never longer than listed. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { minuteMs, secondMs } from '../../core/time.ts'
import type { ListedFile } from '../../operate/archive/catalogue.ts'
import { refuse } from '../../operate/exports/check-run.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { pause } from '../../runtime/pause.ts'

export type Source = {
  /** Ends with a slash. */
  readonly base: string
  readonly key: string | undefined
  readonly stop: AbortSignal
}

/** Tries without a byte in between, before it is left to the next call. */
const mostTries = 6
const longestPauseMs = minuteMs
/** No answer, or no further byte of one. */
const silenceMs = 30 * secondMs
/** Of a catalogue: a hundred years of days. */
const mostText = 2 ** 26

const aside = '.aside'

/** @throws MustAct, TryAgain */
export async function fetchText(source: Source, path: string): Promise<string> {
  const parts: Buffer[] = []
  await withRetries(source, path, async () => {
    parts.length = 0
    const answer = await ask(source, path, {})
    let bytes = 0
    for await (const chunk of chunksOf(answer)) {
      bytes += chunk.length
      if (bytes > mostText) throw new MustAct(`${source.base}${path} is longer than a catalogue`)
      parts.push(chunk)
    }
    return true
  })
  return Buffer.concat(parts).toString()
}

/**
 * The file, unless it is there already. What a former call has of it is gone on with.
 * @returns bytes that were fetched @throws Refusal it is another file than the catalogue lists
 */
export async function fetchFile(
  source: Source,
  folder: string,
  { path, sha256, bytes }: Omit<ListedFile, 'rows'>,
): Promise<number> {
  const target = join(folder, path)
  if ((await hashOf(target, bytes)) === sha256) return 0
  const temporary = join(folder, aside, `${sha256}.part`)
  await mkdir(dirname(temporary), { recursive: true })
  let fetched = 0
  await withRetries(source, path, async () => {
    await using file = await open(temporary, 'a')
    let size = (await file.stat()).size
    if (size > bytes) {
      await file.truncate()
      size = 0
    }
    if (size === bytes) return true
    const answer = await ask(
      source,
      path,
      size === 0 ? {} : { range: `bytes=${size}-`, 'if-range': `"${sha256}"` },
    )
    if (answer.status !== 206 && size > 0) {
      await file.truncate()
      size = 0
    }
    for await (const chunk of chunksOf(answer)) {
      size += chunk.length
      if (size > bytes) refuse(`${path} is longer than the catalogue lists`)
      await file.write(chunk)
      fetched += chunk.length
    }
    await file.sync()
    return size === bytes
  })
  if ((await hashOf(temporary, bytes)) !== sha256) {
    await rm(temporary, { force: true })
    return refuse(`${path} is another file than the catalogue lists: a byte of it was changed`)
  }
  await mkdir(dirname(target), { recursive: true })
  await rename(temporary, target)
  return fetched
}

/** undefined: there is no file of that size. */
async function hashOf(file: string, bytes: number): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined)
  if (found?.size !== bytes) return undefined
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) digest.update(chunk)
  return digest.digest('hex')
}

/** Refused for good, whatever is tried. */
const final = new Set([400, 401, 403, 404, 405, 406, 410])

async function ask(
  { base, key, stop }: Source,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const answer = await fetch(`${base}${path}`, {
    headers: {
      // the bytes that were hashed, so that a range is one of them
      'accept-encoding': 'identity',
      ...headers,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    signal: AbortSignal.any([stop, AbortSignal.timeout(silenceMs)]),
  })
  if (answer.ok) return answer
  const { status } = answer
  await answer.body?.cancel()
  if (status === 401)
    throw new MustAct(`${base} needs a key: set AIRPROOF_API_KEY to one of the network`)
  if (final.has(status)) throw new MustAct(`${base}${path} answers ${status}`)
  throw new Waiting(`${base}${path} answers ${status}`, retryAfterMs(answer))
}

class Waiting extends Error {
  readonly ms: number | undefined
  constructor(message: string, ms: number | undefined) {
    super(message)
    this.ms = ms
  }
}

function retryAfterMs({ headers }: Response): number | undefined {
  const text = headers.get('retry-after')
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * secondMs : undefined
}

async function* chunksOf({ body }: Response): AsyncGenerator<Buffer> {
  if (body === null) return
  for await (const chunk of body as AsyncIterable<Uint8Array>) yield Buffer.from(chunk)
}

/** @param fetchOnce whether it is all there now; a connection that ends early is another try */
async function withRetries(
  { base, stop }: Source,
  path: string,
  fetchOnce: () => Promise<boolean>,
): Promise<void> {
  let why: unknown
  for (let tries = 0; tries < mostTries; tries++) {
    let waitMs = Math.min(longestPauseMs, secondMs * 2 ** tries)
    try {
      if (await fetchOnce()) return
    } catch (error) {
      stop.throwIfAborted()
      if (!isOfNetwork(error)) throw error
      why = error
      if (error instanceof Waiting) waitMs = Math.min(longestPauseMs, error.ms ?? waitMs)
    }
    if (tries < mostTries - 1) await pause(waitMs, stop)
  }
  throw new TryAgain(`${base}${path} could not be fetched: call again, and it goes on from there`, {
    cause: why,
  })
}

/** Fetch says `TypeError` of a connection that is refused or lost. */
const isOfNetwork = (error: unknown): boolean =>
  error instanceof Waiting ||
  error instanceof TypeError ||
  (error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name))
