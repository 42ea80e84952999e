import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** What the pages read of an event; `code` says why a stream ends. */
const shown = ['sensor_id', 'timestamp', 'aqi', 'code']
const longest = 1_000_000

/**
 * The API's events with what our pages show of them: a reading’s hash alone, which nothing packs,
 * was most of what an open page was sent. Of events that come together the last has the id: a reader
 * that resumes in between has some again, and takes each reading once.
 */
export function leanEvents(): Transform {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  return new Transform({
    transform(bytes: Buffer, _, done) {
      rest += decoder.write(bytes)
      const end = rest.lastIndexOf('\n\n') + 2
      if (end < 2) return done(rest.length > longest ? new Error('an event has no end') : null)
      const whole = rest.slice(0, end)
      rest = rest.slice(end)
      // at the begin of a line: a value may have the same letters
      const last = whole.lastIndexOf('\nid: ') + 1
      try {
        done(
          null,
          whole
            .replaceAll(/^id: .*\n/gm, (line, at: number) => (at < last ? '' : line))
            .replaceAll(/^data: (.*)$/gm, (_line, data: string) => `data: ${leanJson(data)}`),
        )
      } catch (error) {
        done(error instanceof Error ? error : new Error('an event is not JSON'))
      }
    },
  })
}

const leanJson = (text: string): string => JSON.stringify(JSON.parse(text), shown)
