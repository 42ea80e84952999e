import { constants, createGzip, type Gzip } from 'node:zlib'
import type { Context } from 'koa'

/** 34 KB of memory per stream: events repeat one another within 4 KB. */
const sparing = {
  level: 4,
  windowBits: 12,
  memLevel: 5,
  // each event leaves at once
  flush: constants.Z_SYNC_FLUSH,
}

/**
 * What packs a stream of events on its way to a browser that can unpack it; the API does not pack
 * them. undefined for any other answer. Nothing that the reader sent is repeated in a stream, so its
 * length tells nobody anything.
 */
export function packedStream(ctx: Context): Gzip | undefined {
  if (ctx.response.type !== 'text/event-stream' || ctx.res.hasHeader('content-encoding'))
    return undefined
  ctx.vary('accept-encoding')
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return undefined
  ctx.set('content-encoding', 'gzip')
  const packed = createGzip(sparing)
  // its memory is not the collector's
  ctx.res.once('close', () => packed.destroy())
  return packed
}
