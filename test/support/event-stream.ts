import { request } from 'node:http'
import type { Readable } from 'node:stream'

export type StreamEvent = { readonly event: string; readonly id: string; readonly data: any }

export type EventStream = Disposable & {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly events: StreamEvent[]
  /** The last id that was sent, with an event or without. */
  readonly lastId: () => string | undefined
  /** How often the server said that the line lives. */
  readonly pings: () => number
  readonly isClosed: () => boolean
  readonly body: Readable
}

/** A client of server-sent events, on its own connection. */
export function listenTo(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (answer) => {
      const events: StreamEvent[] = []
      let pings = 0
      let rest = ''
      let lastId: string | undefined
      let isClosed = false
      const take = (block: string): void => {
        let [event, data] = ['message', '']
        for (const line of block.split('\n')) {
          const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
          if (name === 'id') lastId = value
          if (name === 'event') event = value
          if (name === 'data') data += value
        }
        if (event === 'ping') pings++
        else if (data !== '') events.push({ event, id: lastId ?? '', data: JSON.parse(data) })
      }
      answer.setEncoding('utf8')
      answer.on('data', (text: string) => {
        const blocks = (rest + text).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) take(block)
      })
      answer.on('error', () => undefined)
      answer.on('close', () => {
        isClosed = true
      })
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        events,
        pings: () => pings,
        body: answer,
        lastId: () => lastId,
        isClosed: () => isClosed,
        [Symbol.dispose]: () => void asked.destroy(),
      })
    })
    asked.on('error', reject)
    asked.end()
  })
}
