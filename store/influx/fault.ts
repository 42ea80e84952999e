import { StoreMisconfigured, StoreUnavailable } from '../store.ts'

/** What the client throws for an answer that is not a success. Its class names are minified. */
export type HttpAnswer = { readonly status: number; readonly message: string }

/** The answer that InfluxDB gave, or undefined where there was none. */
export function answerOf(error: unknown): HttpAnswer | undefined {
  if (!(error instanceof Error) || error.name !== 'HttpError') return undefined
  if (!('statusCode' in error) || typeof error.statusCode !== 'number') return undefined
  return { status: error.statusCode, message: messageOf(error) }
}

/**
 * Whether to try again, or to call a person.
 * @param place of the server and what was asked of it, for the message; holds no secret
 */
export function influxFault(error: unknown, place: string): Error {
  const answer = answerOf(error)
  if (answer !== undefined) return faultOfAnswer(answer, place, error)
  if (!(error instanceof Error)) return new StoreUnavailable(`${place}: ${String(error)}`)
  if (error instanceof StoreUnavailable || error instanceof StoreMisconfigured) return error
  // an answer that is not JSON: something else listens there
  if (error.name === 'SyntaxError')
    return new StoreMisconfigured(notInflux(place), { cause: error })
  const lost = ['RequestTimedOutError', 'AbortError'].includes(error.name) || 'code' in error
  return lost ? new StoreUnavailable(`${place}: ${error.message}`, { cause: error }) : error
}

/** HTTP 200 of a query may carry an error of a statement instead of its result. */
export function faultOfStatement(message: string, place: string): Error {
  return /not found|not authorized|unauthorized|forbidden/i.test(message)
    ? new StoreMisconfigured(
        `${place}: ${message}: make the bucket if it is missing, or correct INFLUX_BUCKET and INFLUX_TOKEN`,
      )
    : new StoreUnavailable(`${place}: ${message}`)
}

function faultOfAnswer({ status, message }: HttpAnswer, place: string, cause: unknown): Error {
  const words = `${place} answered ${status}: ${message}`
  const misconfigured = (advice: string): Error =>
    new StoreMisconfigured(`${words}: ${advice}`, { cause })
  switch (status) {
    case 401:
    case 403:
      return misconfigured('INFLUX_TOKEN must be able to read and write both buckets')
    case 404:
      return misconfigured('check INFLUX_URL, INFLUX_ORG and INFLUX_BUCKET')
    case 413:
      return misconfigured('a proxy in front of InfluxDB must let larger bodies through')
    case 408:
    case 429:
      return new StoreUnavailable(words, { cause })
    default:
      if (status >= 500) return new StoreUnavailable(words, { cause })
      return new StoreMisconfigured(status < 400 ? notInflux(place) : words, { cause })
  }
}

const notInflux = (place: string): string =>
  `${place}: what answers there is no InfluxDB 2: check INFLUX_URL`

/** The message inside the answer's JSON where there is one. */
function messageOf(error: Error): string {
  if ('json' in error && typeof error.json === 'object' && error.json !== null) {
    const { json } = error
    if ('message' in json && typeof json.message === 'string') return json.message
    if ('error' in json && typeof json.error === 'string') return json.error
  }
  return error.message
}
