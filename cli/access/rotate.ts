/**
 * New passwords for our NATS users, while everything goes on. The server has one password per user, and a
 * process has two for a while (runtime/nats/passwords.ts), so either can change first. Each step is
 * written down before it is done (runtime/engines/nats-access.ts) and can be done again: a command that was killed
 * anywhere is finished by the next one, and until then every process can sign in.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { secondMs } from '../../core/time.ts'
import {
  type NatsAccess,
  openNatsAccess,
  rotatedUsers,
  rotateNext,
  writeNatsAccess,
} from '../../runtime/engines/nats-access.ts'
import type { OwnUser } from '../../runtime/engines/nats-users.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import {
  denialInWords,
  type NatsTrouble,
  natsTrouble,
  shownUrl,
} from '../../runtime/nats/nats-trouble.ts'
import { askAll } from './ask-servers.ts'
import type { AccessPlace } from './places.ts'

export type Servers = {
  /** Each of them, so that none is left with old passwords. */
  readonly urls: readonly string[]
  readonly natsPinFile?: string | undefined
  /** Makes them read `users.conf` again. @returns false: it is not possible from here */
  readonly reload: () => Promise<boolean>
}

export type Rotating = {
  readonly place: AccessPlace
  readonly note: (line: string) => void
  readonly stop: AbortSignal
  /** For tests: called after each step, and may end the command there. */
  readonly onStep?: (step: string) => void
}

/**
 * How long a server takes to read its configuration, and a process to come back, at most. One that
 * waits for the gate's answers to sensors, 10 s each at most, was seen to answer nothing for 20 s.
 */
const reloadedWithinMs = 60 * secondMs
const backWithinMs = 30 * secondMs
const lookEveryMs = 100

/** From now on the processes' files have the next passwords too. Nothing else changes. @throws MustAct another rotation is under way */
export function offer(
  users: readonly OwnUser[],
  { place, onStep = () => undefined }: Rotating,
): readonly OwnUser[] {
  const access = openNatsAccess(place.accessFile)
  const underWay = rotatedUsers(access)
  const others = users.filter((user) => !underWay.includes(user))
  if (underWay.length > 0 && others.length > 0)
    throw new MustAct(
      `the rotation of ${underWay.join(', ')} is not finished: end it first with \`airproof access --finish\``,
    )
  const next = underWay.length > 0 ? access : rotateNext(access, users)
  writeNatsAccess(place.accessFile, next)
  onStep('offered, files not written')
  place.write(next)
  onStep('offered')
  return rotatedUsers(next)
}

/**
 * The servers take the new passwords, the processes sign in with them, and the former ones are deleted.
 * @returns the users that were rotated
 * @throws MustAct a server has other passwords, or a process did not come back: what to do, and to run it again
 */
export async function finish(servers: Servers, rotating: Rotating): Promise<readonly OwnUser[]> {
  const { place, note, onStep = () => undefined } = rotating
  const offered = openNatsAccess(place.accessFile)
  const users = rotatedUsers(offered)
  if (users.length === 0) return []
  const before = await connectionsOf(users, servers, rotating)
  const isFirst = offered.rotation?.step === 'offered'
  const switched = isFirst ? rotateNext(offered, users) : offered
  writeNatsAccess(place.accessFile, switched)
  onStep('switched, files not written')
  place.write(switched)
  onStep('switched, servers not reloaded')
  if (!(await allTake(switched, servers, rotating))) {
    if (!(await servers.reload()))
      note('this user may not reload the servers: run `nats-server --signal reload` on each')
    onStep('reloaded')
    await untilAllTake(switched, servers, rotating)
  }
  if (isFirst && before !== undefined) await untilBack(before, servers, rotating)
  onStep('all signed in')
  const done = rotateNext(switched, users)
  writeNatsAccess(place.accessFile, done)
  onStep('done, files not written')
  place.write(done)
  return users
}

async function untilAllTake(
  access: NatsAccess,
  servers: Servers,
  rotating: Rotating,
): Promise<void> {
  const deadlineMs = performance.now() + reloadedWithinMs
  for (;;) {
    const late = await firstThatRefuses(access, servers, rotating)
    if (late === undefined) return
    if (performance.now() > deadlineMs && late.kind === 'silent') throw new TryAgain(late.words)
    if (performance.now() > deadlineMs)
      throw new MustAct(
        `${shownUrl(late.url)} still has the former passwords: put the new users.conf where that server reads it, reload it with \`nats-server --signal reload\`, and run \`airproof access --finish\` again. Until then every process can sign in`,
      )
    await sleep(lookEveryMs, undefined, { signal: rotating.stop })
  }
}

const allTake = async (
  access: NatsAccess,
  servers: Servers,
  rotating: Rotating,
): Promise<boolean> => (await firstThatRefuses(access, servers, rotating)) === undefined

/** A server that does not let one of the users in; undefined: all take all of them. */
async function firstThatRefuses(
  access: NatsAccess,
  { urls, natsPinFile }: Servers,
  { stop }: Rotating,
): Promise<(NatsTrouble & { readonly url: string }) | undefined> {
  for (const natsUrl of urls)
    for (const user of rotatedUsers(access)) {
      const natsLogin = { user, password: access.passwords[user] }
      const settings = { natsUrl, natsLogin, natsPinFile }
      try {
        const nc = await connectNats(settings, { name: 'airproof access', once: true, stop })
        await nc.close()
      } catch (cause) {
        return { url: natsUrl, ...natsTrouble(cause, settings) }
      }
    }
  return undefined
}

type Counts = ReadonlyMap<OwnUser, number>

/** How many connections each has on all servers; undefined: `system` may not ask, or gets no answer. */
async function connectionsOf(
  users: readonly OwnUser[],
  { urls, natsPinFile }: Servers,
  { place, stop }: Rotating,
): Promise<Counts | undefined> {
  const { passwords } = openNatsAccess(place.accessFile)
  const file = place.passwordFile('system')
  const natsLogin = { user: 'system', password: passwords.system, file }
  const settings = { natsUrl: urls.join(','), natsLogin, natsPinFile }
  try {
    const nc = await connectNats(settings, { name: 'airproof access', once: true, stop })
    try {
      // those of commands come and go
      const lasting = users.filter((user) => user !== 'operator' && user !== 'system')
      const count = async (user: OwnUser) => {
        const answers = await askAll(nc, 'CONNZ', { auth: true, user })
        return [
          user,
          answers.reduce((sum, { data }) => sum + (data?.connections?.length ?? 0), 0),
        ] as const
      }
      return new Map(await Promise.all(lasting.map(count)))
    } finally {
      await nc.close()
    }
  } catch (error) {
    if (denialInWords(error, undefined) !== undefined) return undefined
    if (natsTrouble(error, settings).kind === 'silent') return undefined
    throw error
  }
}

async function untilBack(before: Counts, servers: Servers, rotating: Rotating): Promise<void> {
  const deadlineMs = performance.now() + backWithinMs
  for (;;) {
    const now = await connectionsOf([...before.keys()], servers, rotating)
    const missing = [...before].filter(([user, count]) => (now?.get(user) ?? 0) < count)
    if (missing.length === 0) return
    if (performance.now() > deadlineMs) {
      const words = missing.map(
        ([user, count]) => `${user} (${now?.get(user) ?? 0} of ${count} connections)`,
      )
      throw new MustAct(
        `did not sign in again: ${words.join(', ')}. Their processes have an older password file, or none: give them the new one, restart them, and run \`airproof access --finish\` again`,
      )
    }
    await sleep(lookEveryMs, undefined, { signal: rotating.stop })
  }
}
