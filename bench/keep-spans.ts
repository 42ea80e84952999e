/**
 * Loaded into a process before it starts: the spans of its work are written to BENCH_SPANS, one a
 * line, when it ends.
 */
import { writeFileSync } from 'node:fs'
import { environment } from '../runtime/process/config.ts'
import { onSpan, type Span } from '../runtime/trace.ts'

const file = environment()['BENCH_SPANS']
if (file !== undefined) {
  const spans: Span[] = []
  onSpan((span) => spans.push(span))
  process.on('exit', () => writeFileSync(file, spans.map((one) => JSON.stringify(one)).join('\n')))
}
