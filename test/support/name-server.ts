/** A DNS server on loopback that responds as a test specifies, query by query. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** Addresses of a name; 'silent': no response. @param query counts the queries of its kind */
export type Zone = (name: string, type: 'A' | 'AAAA', query: number) => readonly string[] | 'silent'

export type NameServer = AsyncDisposable & {
  readonly address: string
  readonly queries: () => number
}

const types = { 1: 'A', 28: 'AAAA' } as const

export async function startNameServer(zone: Zone): Promise<NameServer> {
  const counts = new Map<string, number>()
  let queries = 0
  const socket = createSocket('udp4')
  socket.on('message', (question, from) => {
    queries++
    const { name, end } = readName(question)
    const type = types[question.readUInt16BE(end) as keyof typeof types]
    const count = (counts.get(`${name} ${type}`) ?? 0) + 1
    counts.set(`${name} ${type}`, count)
    const answers = type === undefined ? [] : zone(name, type, count)
    if (answers === 'silent') return
    socket.send(answerTo(question, end + 4, answers), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries: () => queries,
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}

function readName(message: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function answerTo(question: Buffer, end: number, addresses: readonly string[]): Buffer {
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(0x8180, 2)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  return Buffer.concat([header, question.subarray(12, end), ...addresses.map(recordOf)])
}

function recordOf(address: string): Buffer {
  const data = address.includes(':') ? bytes6(address) : Buffer.from(address.split('.').map(Number))
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(data.length === 4 ? 1 : 28, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(0, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function bytes6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const missing = 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)]
  const data = Buffer.alloc(16)
  all.forEach((group, i) => data.writeUInt16BE(Number.parseInt(group, 16), i * 2))
  return data
}
