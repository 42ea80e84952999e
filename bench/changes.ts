/**
 * What a copy of the network costs: `node bench/changes.ts [--readings 60000]` prints one JSON document.
 * Pages of 5,000 readings of GET /v1/changes, without HTTP, on a real nats-server.
 *
 * - `memory`: pages from the end of the log, which callers share. `first`: for the first caller, who
 *   pays for the hash and the text of each reading; `next`: for all others.
 * - `log`: pages from the server, below what memory has, in messages of 1,000 readings; `flat`: NDJSON
 *   with shape=flat, which has no hash.
 *
 * `perSecond` is readings in a second of this process's CPU, the NATS client included, and the best of
 * five rounds: the other work of the machine can only add. `ratio` is to the bar of 200,000.
 */
import { parseArgs } from 'node:util'
import { listChanges } from '../api/changes/list-changes.ts'
import type { Answer, Request } from '../api/http/answer.ts'
import { areaDirectory } from '../api/live/area-directory.ts'
import { openLogAfter } from '../api/live/log-after.ts'
import { type LogTail, openLogTail } from '../api/live/log-tail.ts'
import { createReadingTexts } from '../api/live/reading-json.ts'
import type { LogMessage } from '../core/state/log-message.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { followLog } from '../runtime/nats/follow-log.ts'
import { ensureStreams } from '../runtime/nats/streams/streams.ts'
import { logWriter } from '../test/support/chain/log-writer.ts'
import { testNats } from '../test/support/nats.ts'
import { createCity, rules } from './api-city.ts'

const { values: flags } = parseArgs({ options: { readings: { type: 'string', default: '60000' } } })
const count = Number(flags.readings)
const network = '0123456789ab'
const bar = 200_000
const rounds = 5

await using nats = await testNats()
const nc = await nats.connect()
await ensureStreams(nc)
const keccak = await createKeccak()
const log = logWriter(nc)

let position = 0
const n = Array.from({ length: 16 }, () => 0)
const listeners: ((message: LogMessage | undefined) => void)[] = []
const picture = {
  position: () => position,
  isLive: () => true,
  states: () => n.map((number) => ({ n: number })),
  onFolded: (listener: (message: LogMessage | undefined) => void) => void listeners.push(listener),
}

/** Everything that was written, in memory. */
async function fold(to: number): Promise<void> {
  await using entries = await followLog(nc, { fromSeq: position + 1 })
  for await (const { seq, message } of entries) {
    position = seq
    if (message === undefined) continue
    n[message.partition] = message.nLast
    for (const listener of listeners) listener(message)
    if (seq >= to) return
  }
}

type Format = 'json' | 'csv' | 'ndjson'
const types = { json: 'application/json', csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

function routeOn(tail: LogTail) {
  const { board } = createCity(1)
  const directory = areaDirectory(board.table().outline(), {
    networkName: 'Lagos',
    idPrefix: 'NGR-LOS',
  })
  const onChain = { verified: false, tx_hash: null, status: 'pending' } as const
  const route = listChanges({
    log: openLogAfter({ nc, network, tail }),
    tail,
    gapOf: () => ({ from: null, to: null, archive: null }),
    board,
    rules,
    directory: () => directory,
    texts: createReadingTexts(keccak, () => onChain),
  })
  const request = (format: Format, params: ReadonlyMap<string, string>): Request => ({
    names: {},
    params,
    type: types[format],
    asker: { isVisitor: false, share: () => '', gone: () => new AbortController().signal },
    caller: undefined,
    network: () => '',
    header: () => undefined,
    readBody: async () => undefined,
  })
  /** Page after page. @returns readings in a second of CPU */
  return async (format: Format, more: Readonly<Record<string, string>> = {}): Promise<number> => {
    const before = process.cpuUsage()
    let after = 'start'
    for (let isMore = true; isMore; ) {
      const params = new Map(Object.entries({ ...more, after, limit: '5000' }))
      const answer: Answer = await route.answer(request(format, params))
      after = /after=([\w-]+)/.exec(answer.headers?.['link'] ?? '')?.[1] ?? ''
      isMore = answer.headers?.['airproof-more'] === 'true'
    }
    const { user, system } = process.cpuUsage(before)
    return Math.round((log.written.length / (user + system)) * 1e6)
  }
}

const figuresOf = (perSecond: readonly number[]) => {
  const best = Math.max(...perSecond)
  return { perSecond: best, ratio: Math.round((best / bar) * 100) / 100, allRounds: perSecond }
}
async function best(measure: () => Promise<number>) {
  const all: number[] = []
  for (let round = 0; round < rounds; round++) all.push(await measure())
  return figuresOf(all)
}

async function fromLog() {
  // opened when all is folded: it holds nothing
  const read = routeOn(openLogTail({ picture, network, capacity: 0 }))
  await read('ndjson')
  return {
    ndjson: await best(() => read('ndjson')),
    csv: await best(() => read('csv')),
    json: await best(() => read('json')),
    flat: await best(() => read('ndjson', { shape: 'flat' })),
  }
}

for (let i = 0; i < count / 1_000; i++)
  await log.write({ partition: i % 16, readings: 1_000, leafVersion: 2 })
const last = await log.write({ readings: 1, leafVersion: 2 })

/** As a process has it that has just folded the log. */
async function filledTail(): Promise<LogTail> {
  position = 0
  listeners.length = 0
  const tail = openLogTail({ picture, network, capacity: 2 * count })
  await fold(last)
  return tail
}

const memory: Record<string, object> = {}
for (const format of ['ndjson', 'csv', 'json'] as const) {
  const first: number[] = []
  const next: number[] = []
  for (let round = 0; round < rounds; round++) {
    const read = routeOn(await filledTail())
    first.push(await read(format))
    next.push(await read(format))
  }
  memory[format] = { first: figuresOf(first), next: figuresOf(next) }
}
const fromServer = await fromLog()
const result = { bench: 'changes', node: process.version, readings: log.written.length }
console.log(JSON.stringify({ ...result, memory, log: fromServer }, undefined, 2))
await nc.close()
