/** Compression: what a client accepts (RFC 9110, 12.5.3), and the bytes that it gets. */
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { Answer } from './answer.ts'
import { ApiError } from './api-error.ts'

export type Coding = (typeof codings)[number]

/** What a client accepts. */
export type Agreed = {
  /** The one of ours that it prefers; undefined: none. */
  readonly coding: Coding | undefined
  /** Whether it takes the bytes as they are: all do, unless they say that they do not. */
  readonly plain: boolean
}

/**
 * Best first: at equal weights the first is taken, because browsers list all of them in an order
 * that means nothing. `npm run bench -- compression` measures their levels: the lowest of each saves
 * almost as much as the higher ones, at a fraction of their CPU.
 */
const codings = ['zstd', 'br', 'gzip'] as const

const pack: Readonly<Record<Coding, (body: Buffer) => Buffer>> = {
  zstd: (body) => zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  br: (body) =>
    brotliCompressSync(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 1,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      },
    }),
  gzip: (body) => gzipSync(body, { level: 1 }),
}

const asIs: Agreed = { coding: undefined, plain: true }

const mostKnown = 100
const longestKnown = 200
const known = new BoundedMap<string, Agreed>(mostKnown)

/** @param accept the header Accept-Encoding @returns what it accepts, whatever it consists of */
export function readCodings(accept: string | undefined): Agreed {
  if (accept === undefined) return asIs
  const before = known.get(accept)
  if (before !== undefined) return before
  const agreed = agree(weightsIn(accept))
  if (accept.length <= longestKnown) known.set(accept, agreed)
  return agreed
}

const token = /^([a-z\d!#$%&'*+.^_`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

/** Name → weight. A part that is none is ignored; of a name that is repeated the lowest counts. */
function weightsIn(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const part of accept.split(',')) {
    const [, name, weight = '1'] = token.exec(part.trim()) ?? []
    if (name === undefined) continue
    const key = name.toLowerCase()
    weights.set(key, Math.min(Number(weight), weights.get(key) ?? 1))
  }
  return weights
}

function agree(weights: ReadonlyMap<string, number>): Agreed {
  const others = weights.get('*') ?? 0
  // a client that writes `*` most likely knows the oldest one
  const unnamed = codings.filter((name) => !weights.has(name)).toReversed()
  let coding: Coding | undefined
  let best = 0
  for (const name of [...codings.filter((one) => weights.has(one)), ...unnamed]) {
    const weight = weights.get(name) ?? others
    if (weight <= best) continue
    coding = name
    best = weight
  }
  const plain = weights.get('identity') ?? weights.get('*')
  // not named, it is acceptable, but any coding that is named is preferred
  if (weights.has('identity') && plain !== undefined && plain > best) return asIs
  return { coding, plain: plain !== 0 }
}

const shortestBytes = 1_024
const textTypes = /^text\/(?!event-stream)|[/+](?:json|x-ndjson|javascript)(?:;|$)/

/** Whether answers of a type are sent compressed. An image or an archive is compressed already. */
export const isPacked = (type: string): boolean => textTypes.test(type)

/**
 * How an answer of the type is sent: a short one as it is, if it may be.
 * @throws ApiError 406 if the client accepts nothing that there is
 */
export function codingFor(
  type: string,
  bytes: number,
  { coding, plain }: Agreed,
): Coding | undefined {
  if (coding === undefined && plain) return undefined
  const possible = isPacked(type) ? coding : undefined
  if (!plain && possible === undefined) throw noCoding()
  return plain && bytes < shortestBytes ? undefined : possible
}

const noCoding = (): ApiError => {
  const available = [...codings, 'identity']
  return new ApiError(406, 'not_acceptable', `this is available as ${available.join(', ')}`, {
    details: { available },
  })
}

/** Of bodies that are kept, such as the document. */
const packed = new WeakMap<Buffer, Map<Coding, Buffer>>()

/**
 * Compressed in this turn of the event loop, which is the account's own (`loop-turns.ts`): so no
 * body waits in memory for another one, and a page of 1,000 readings takes 1 to 2 ms.
 */
export function packedAs(
  coding: Coding,
  { body, isKept = false }: Pick<Answer, 'body' | 'isKept'>,
): Buffer {
  if (!isKept) return pack[coding](body)
  const kept = packed.get(body) ?? new Map<Coding, Buffer>()
  const bytes = kept.get(coding) ?? pack[coding](body)
  packed.set(body, kept.set(coding, bytes))
  return bytes
}
