import type { Context } from 'koa'
import qrcode from 'qrcode-generator'
import { isHash } from '../../core/hex.ts'
import { parseIso } from '../../core/iso-time.ts'
import { proofUrl } from '../../core/proof/proof-path.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import { clientNetwork } from '../../runtime/http/client-network.ts'
import { rateBy } from './rate-by.ts'
import { Refusal } from './refusal.ts'
import type { DashboardRoute } from './route.ts'

type Options = {
  /** Where people reach the dashboard, without a slash at its end. */
  readonly publicUrl: string
  /** Proxies of ours before us. */
  readonly proxies: number
  readonly clockMs: () => number
}

/** Of one network: each takes some milliseconds to draw. */
const perMinute = 120
/** Characters, as many as an id may have. */
const longestId = 64

/**
 * GET /sensors/{id}/qr.svg: the address of the sensor's page, to print and stick on the device.
 * GET /proof/{id}/{timestamp}/qr.svg?hash=: the one link to a proof, for its certificate.
 */
export function qrCodes(options: Options): readonly DashboardRoute[] {
  const { publicUrl, proxies, clockMs } = options
  const limit = { perSecond: (perMinute * secondMs) / minuteMs, burst: perMinute / 5 }
  const byNetwork = rateBy({ limit, clockMs, siteFactor: 10 })
  const code = (path: string, addressOf: (ctx: Context, id: string) => string): DashboardRoute => ({
    method: 'GET',
    path,
    needs: 'none',
    handle: (ctx) => {
      const id: string = ctx['params'].id
      if (Array.from(id).length > longestId)
        throw new Refusal(404, 'not_found', 'there is no sensor with such a long id')
      const address = addressOf(ctx, id)
      byNetwork.take(clientNetwork(ctx.req, proxies))
      ctx.set('cache-control', 'public, max-age=86400')
      ctx.type = 'image/svg+xml'
      return qrSvg(address)
    },
  })
  return [
    code('/sensors/:id/qr.svg', (_ctx, id) => `${publicUrl}/sensors/${encodeURIComponent(id)}`),
    code('/proof/:id/:timestamp/qr.svg', (ctx, sensor) => {
      const time = parseIso(String(ctx['params'].timestamp))
      const { hash } = ctx.query
      if (!('timeMs' in time) || typeof hash !== 'string' || !isHash(hash))
        throw new Refusal(
          404,
          'not_found',
          'the link to a proof has a time, and the hash of the reading',
        )
      return proofUrl(publicUrl, { sensor, timeMs: time.timeMs }, hash)
    }),
  ]
}

/** Readable even if a quarter of it is worn off. */
const correction = 'Q'

function qrSvg(text: string): string {
  // 0: as large as the text needs
  const code = qrcode(0, correction)
  code.addData(text)
  code.make()
  return code.createSvgTag({ scalable: true })
}
