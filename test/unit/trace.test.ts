import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { listenOn } from '../../runtime/http/listen.ts'
import { openLog } from '../../runtime/log.ts'
import { openOtel } from '../../runtime/otel.ts'
import { endSpan, onSpan, type Span, spanStart } from '../../runtime/trace.ts'

test('without someone who follows, no clock is read and nothing is described', () => {
  expect(spanStart()).toBe(0)
  endSpan('commit', 0, () => {
    throw new Error('described')
  })
  const seen: Span[] = []
  const stop = onSpan((span) => seen.push(span))
  const startMs = spanStart()
  endSpan('commit', startMs, () => ({ log: [7], seqs: [[1, 2]] }))
  // it began before someone followed
  endSpan('batch', 0, () => ({}))
  stop()
  endSpan('commit', startMs, () => ({}))
  expect(seen).toEqual([
    { name: 'commit', log: [7], seqs: [[1, 2]], startMs, endMs: expect.any(Number) },
  ])
  expect(seen[0]!.endMs).toBeGreaterThanOrEqual(startMs)
})

/** The modules of OpenTelemetry that a process has loaded once it traces, or does not. */
const loadedWith = (env: Readonly<Record<string, string>>): readonly string[] => {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      load(url, context, next) {
        if (url.includes('@opentelemetry/')) loaded.push(url.replace(/.*@opentelemetry\\/([^/]+)\\/.*/, '$1'))
        return next(url, context)
      },
    })
    await import(process.cwd() + '/runtime/process/process.ts')
    await import(process.cwd() + '/pipeline/main.ts')
    const { openTraces } = await import(process.cwd() + '/runtime/process/process.ts')
    const { openLog } = await import(process.cwd() + '/runtime/log.ts')
    const log = openLog({ name: 'test', level: 'silent' })
    const traces = await openTraces({ env: ${JSON.stringify(env)}, flags: {} }, { name: 'test', log })
    await traces?.[Symbol.asyncDispose]()
    console.log(JSON.stringify([...new Set(loaded)]))
  `
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[]
}

test('a process loads nothing of OpenTelemetry unless a collector is set', {
  timeout: 120_000,
}, () => {
  expect(loadedWith({})).toEqual([])
  expect(loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })).toEqual(
    expect.arrayContaining(['api', 'sdk-trace', 'exporter-trace-otlp-http']),
  )
})

test.each(['refuses', 'never answers'])(
  'a collector that %s holds nothing up, and is reported',
  { timeout: 120_000 },
  async (what) => {
    const server = createServer((_request, response) => {
      if (what === 'refuses') response.writeHead(403).end()
    })
    const endpoint = await listenOn(server, { host: '127.0.0.1', port: 0, setting: '' })
    const lines: string[] = []
    const to = { write: (line: string) => void lines.push(line) }
    const log = openLog({ name: 'test', level: 'warn', to })
    try {
      await using _otel = openOtel({ endpoint, name: 'test', idPrefix: 'BER', log })
      // more than wait: the rest is dropped
      for (let seq = 1; seq <= 5_000; seq++)
        endSpan('commit', spanStart(), () => ({ log: [seq], seqs: [[seq, seq]] }))
    } finally {
      server.closeAllConnections()
      server.close()
    }
    expect(lines.join('')).toContain('the collector does not take spans')
  },
)
