/**
 * A child of `bench/api.ts`: /v1/sensors in the obvious way, with the same key check: Koa,
 * its router, and one JSON.stringify of the objects of the page.
 */
import { hash } from 'node:crypto'
import { createServer } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { formatIso } from '../core/iso-time.ts'
import { serveFor } from './api-child.ts'
import { entryOf, key } from './api-city.ts'

const count = Number(process.argv[2])
const startMs = Date.now()
const sensors = Array.from({ length: count }, (_, n) => {
  const { id, sites } = entryOf(n)
  const { area, lat, lon, address } = sites[0]!
  return {
    id,
    area,
    location: { lat, lon, address },
    status: 'online',
    last_reading: formatIso(startMs),
    uptime_24h: 0.98,
    aqi: 57,
  }
})
const keys = new Set([hash('sha256', key)])
const app = new Koa()
const router = new Router()
app.use(async (ctx, next) => {
  const [, text = ''] = (ctx.get('authorization') || '').split(' ')
  if (!keys.has(hash('sha256', text))) ctx.throw(401)
  await next()
})
router.get('/v1/sensors', (ctx) => {
  const limit = Number(ctx.query['limit'] ?? 100)
  const matches = sensors.filter(
    ({ status }) => !ctx.query['status'] || status === ctx.query['status'],
  )
  const page = matches.slice(0, limit)
  ctx.body = { status: 'success', count: page.length, total: matches.length, sensors: page }
})
app.use(router.routes())
app.use(router.allowedMethods())
const handle = app.callback()
const server = createServer((request, response) => void handle(request, response))
await serveFor(server, (n) => {
  const sensor = sensors[n % count]
  if (sensor !== undefined) sensor.last_reading = formatIso(startMs + n)
})
