/** Questions to the API, for the pages that the server writes. */
import { secondMs } from '../../../core/time.ts'

/** @returns undefined: there is no such thing @throws where the API does not answer */
export type AskApi = <T>(path: string, network: string) => Promise<T | undefined>

type Options = {
  readonly apiUrl: string
  readonly key: () => string
}

const answerWithinMs = 8 * secondMs

/** Asks with our key as the network of the visitor, so that turns at the API are fair. */
export const askApi =
  ({ apiUrl, key }: Options): AskApi =>
  async <T>(path: string, network: string): Promise<T | undefined> => {
    const answer = await fetch(apiUrl + path, {
      headers: { authorization: `Bearer ${key()}`, 'airproof-network': network },
      signal: AbortSignal.timeout(answerWithinMs),
    })
    // the caller names the type of the answer
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (answer.ok) return (await answer.json()) as T
    await answer.body?.cancel()
    if (answer.status === 404) return undefined
    throw new Error(`the API answered ${answer.status}`)
  }
