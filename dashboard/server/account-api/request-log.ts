/** The last requests that an account's programs made, from what the API has written of them. */
import type { NatsConnection } from '@nats-io/transport-node'
import { isRequests, type LoggedRequest } from '../../../schemas/people/requests.ts'
import { requestsStream, requestsSubject } from '../../../schemas/subjects.ts'
import { readSubject } from '../read-subject.ts'

export type RequestsOf = {
  /** Newest first. */
  readonly requests: readonly LoggedRequest[]
  /** Requests of the same time that were not listed, because there were too many in a second. */
  readonly leftOut: number
}

/** The stream stores at most 5,000 of an account, for seven days. @throws Refusal 503 */
export async function readRequests(nc: NatsConnection, account: string): Promise<RequestsOf> {
  const subject = requestsSubject(account)
  const values = await readSubject(nc, { stream: requestsStream, format: 'requests', subject })
  const messages = values.filter((value) => isRequests(value))
  return {
    // several processes write, each in turn
    requests: messages
      .flatMap(({ requests }) => requests)
      .toSorted((a, b) => (a.at < b.at ? 1 : -1)),
    leftOut: messages.reduce((sum, { left_out: more }) => sum + more, 0),
  }
}
