import type { NatsConnection } from '@nats-io/transport-node'

export type Answer = {
  readonly server: { readonly id: string; readonly name: string; readonly tags?: readonly string[] }
  readonly data?: { readonly connections?: readonly unknown[] }
}

/** For the answers of all servers. */
const answersWithinMs = 1_000
/** No server answers this long after the one before it. */
const stallMs = 250

/** What each server of the cluster answers. @param nc signed in as `system` */
export async function askAll(
  nc: NatsConnection,
  what: 'CONNZ' | 'JSZ',
  filter: object,
): Promise<readonly Answer[]> {
  const all: Answer[] = []
  const answers = await nc.requestMany(`$SYS.REQ.SERVER.PING.${what}`, JSON.stringify(filter), {
    strategy: 'stall',
    maxWait: answersWithinMs,
    stall: stallMs,
  })
  for await (const answer of answers) all.push(answer.json<Answer>())
  return all
}
