import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Params } from './params.ts'

/** What a route has to say; how it reaches the socket is `app.ts`'s business. */
export type Answer = {
  /** 200 unless given. */
  readonly status?: number
  readonly type: string
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** Of an answer that is the same until the process is another: who has it already is told so (304). */
  readonly etag?: string
  /** Instead of `body`: is handed the connection when the head is on its way, and ends it. */
  readonly follow?: (out: ServerResponse) => void
}

/** For whom the store is asked, and until when. */
export type Caller = {
  readonly key: string
  /** Whom the answer is for: the key's own account, or the one an internal caller acts for. */
  readonly account: string
  readonly isInternal: boolean
  /** The dashboard asks for a visitor who is not signed in. */
  readonly isVisitor: boolean
  /** Judges the same key once more. @throws ApiError as the guard does */
  readonly again: () => void
}

export type Asker = {
  /** Not signed in: asks in a pool apart from the accounts'. */
  readonly isVisitor: boolean
  /** What shares a turn: an account, or a visitor's site or address. */
  readonly share: () => string
  /** Aborted when the client has gone. */
  readonly gone: () => AbortSignal
}

export type Request = {
  /** Of the path, decoded. */
  readonly names: Readonly<Record<string, string>>
  readonly params: Params
  /** The media type agreed on, one of the route's. */
  readonly type: string
  /** Undefined on a route that is open. */
  readonly caller: Caller | undefined
  readonly asker: Asker
  /** The client's, as far as our own proxies say. */
  readonly network: () => string
  /** Empty where it was sent empty; in lower case. */
  readonly header: (name: string) => string | undefined
  /**
   * The JSON that was sent, undefined where nothing was; the caller's key is judged again behind it.
   * @throws ApiError 400, 401, 413, 415
   */
  readonly readBody: () => Promise<unknown>
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export type Route = {
  /** GET unless given, which answers HEAD too. */
  readonly method?: Method
  /** As in `/v1/areas/:area_name`. */
  readonly path: string
  /** Every query parameter it takes. */
  readonly params: readonly string[]
  /** What it can be asked for in, the usual first. */
  readonly types: readonly string[]
  /** The media type that a parameter asks for: it wins over Accept. @throws ApiError 400 */
  readonly typeOf?: (params: Params) => string | undefined
  /** A part of a page of ours, and not of the interface that the document describes. */
  readonly isPart?: boolean
  /** Answers without a key. */
  readonly isOpen?: boolean
  /** Not charged to the day's quota, only to the minute's. */
  readonly isUncharged?: boolean
  /**
   * Where given, an address has one answer for as long as this number stays the same: it is kept,
   * and the route not asked again.
   */
  readonly version?: () => number
  readonly answer: (request: Request) => Answer | Promise<Answer>
}

export const jsonType = 'application/json'

export const jsonAnswer = (
  value: unknown,
  rest: Pick<Answer, 'status' | 'headers'> = {},
): Answer => ({
  type: jsonType,
  body: Buffer.from(JSON.stringify(value)),
  ...rest,
})

/** An answer that never changes while the process runs. */
export const constant = (answer: Answer): Answer => ({
  ...answer,
  etag: `"${hash('sha256', answer.body, 'base64url').slice(0, 27)}"`,
})
