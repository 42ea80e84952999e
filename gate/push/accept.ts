import type { SeenBook } from '../seen-book.ts'
import type { createDeliver } from './deliver.ts'
import type { Endpoint, PushRequest } from './endpoint.ts'

type Options = {
  readonly deliver: ReturnType<typeof createDeliver>
  /** Where a sensor's last contact is noted. */
  readonly seen?: Pick<SeenBook, 'contacted'> | undefined
}

type Accepted = {
  /** What the sender receives, as JSON. */
  readonly body: Readonly<Record<string, unknown>>
  readonly outcome: string
  readonly readings: number
}

/** Makes a request durable whose caller is known and does not flood. @throws PushError */
export type Accept = (
  endpoint: Endpoint,
  request: PushRequest,
  contact: Parameters<SeenBook['contacted']>[1],
) => Promise<Accepted>

export const createAccept =
  ({ deliver, seen }: Options): Accept =>
  async (endpoint, request, contact) => {
    const { messages, sensors, answer } = endpoint.prepare(request)
    const ofCaller = endpoint.caller === 'sensor' ? [request.caller] : []
    for (const sensor of new Set([...sensors, ...ofCaller])) seen?.contacted(sensor, contact)
    if (messages.length === 0)
      return { body: { stored: 0, ...answer }, outcome: 'nothing', readings: 0 }
    const outcomes = await Promise.all(messages.map((message) => deliver(message, endpoint.keeps)))
    const outcome = outcomes.includes('spooled') ? 'spooled' : 'stored'
    const readings = messages.reduce((sum, message) => sum + message.readings, 0)
    const isSpooled = outcome === 'spooled' ? { spooled: true } : {}
    return { body: { stored: readings, ...isSpooled, ...answer }, outcome, readings }
  }
