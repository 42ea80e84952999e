/** Receivers of the benchmark, in a process of their own: `/ok/…` answers, `/hang/…` never does. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'

let delaysMs: number[] = []
const seen = new Map<string, number>()
let total = 0
let firstMs = 0
let lastMs = 0

const onRequest: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('error', () => undefined)
  request.on('end', () => {
    if (request.url === '/stats') return void response.end(JSON.stringify(statistics()))
    if (request.url === '/reset') {
      delaysMs = []
      seen.clear()
      total = 0
      firstMs = 0
      return void response.end()
    }
    const nowMs = Date.now()
    if (request.url?.startsWith('/hang')) return
    total++
    firstMs ||= nowMs
    lastMs = nowMs
    const id = String(request.headers['webhook-id'])
    seen.set(id, (seen.get(id) ?? 0) + 1)
    // the benchmark's own events say when they were published
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string }
    delaysMs.push(nowMs - Date.parse(timestamp))
    response.writeHead(200, { 'content-length': 2 })
    response.end('ok')
  })
}

function statistics() {
  const sorted = delaysMs.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return {
    total,
    distinct: seen.size,
    seconds: (lastMs - firstMs) / 1_000,
    firstMs,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

// one port each, because receivers of different owners are different hosts
const ports: number[] = []
for (let i = 0; i < Number(process.argv[2] ?? 1); i++) {
  const server = createServer({ keepAliveTimeout: 60_000 }, onRequest)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address === 'object' && address !== null) ports.push(address.port)
}
process.send?.(ports)
