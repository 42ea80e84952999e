import qrcode from 'qrcode-generator'
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

/** GET /sensors/{id}/qr.svg: the address of the sensor's page, to print and stick on the device. */
export function sensorQr({ publicUrl, proxies, clockMs }: Options): DashboardRoute {
  const limit = { perSecond: (perMinute * secondMs) / minuteMs, burst: perMinute / 5 }
  const byNetwork = rateBy({ limit, clockMs, siteFactor: 10 })
  return {
    method: 'GET',
    path: '/sensors/:id/qr.svg',
    needs: 'none',
    handle: (ctx) => {
      const id: string = ctx['params'].id
      if (Array.from(id).length > longestId)
        throw new Refusal(404, 'not_found', 'there is no sensor with such a long id')
      byNetwork.take(clientNetwork(ctx.req, proxies))
      ctx.set('cache-control', 'public, max-age=86400')
      ctx.type = 'image/svg+xml'
      return qrSvg(`${publicUrl}/sensors/${encodeURIComponent(id)}`)
    },
  }
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
