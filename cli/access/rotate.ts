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
import { type NatsTrouble, natsTrouble, shownUrl } from '../../runtime/nats/nats-trouble.ts'
import { asSystem } from './as-system.ts'
import { askAll } from './ask-servers.ts'
import type { AccessPlace } from './places.ts'
import type { Reloaded } from './reload.ts'

export type Servers = {
  /** Each of them, so that none is left with old passwords. */
  readonly urls: readonly string[]
  readonly natsPinFile?: string | undefined
  /** Makes one of them read `users.conf` again. */
  readonly reload: (url: string) => Promise<Reloaded>
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
  if (access.rotation?.issuerSeed !== undefined)
    throw new MustAct(
      'the rotation of callout-seed is not finished: end it first with `airproof access --finish`',
    )
  const underWay = rotatedUsers(access)
  const others = users.filter((user) => !underWay.includes(user))
  if (underWay.length > 0 && others.length > 0)
    throw new MustAct(
      `the rotation of ${underWay.join(', ')} is not finished: end it first with \`airproof access --finish\``,
    )
  const next = access.rotation === undefined ? rotateNext(access, users) : access
  writeNatsAccess(place.accessFile, next)
  onStep('offered, files not written')
  place.write(next)
  onStep('offered')
  return rotatedUsers(next)
}

/**
 * The servers take the new passwords, one after the other; the processes sign in with them; the former
 * ones are deleted.
 * @returns the users that were rotated
 * @throws MustAct a server has other passwords, or a process did not come back: what to do, and to run it again
 */
export async function finish(servers: Servers, rotating: Rotating): Promise<readonly OwnUser[]> {
  const { place, onStep = () => undefined } = rotating
  const offered = openNatsAccess(place.accessFile)
  const users = rotatedUsers(offered)
  if (users.length === 0) return []
  await assertAllNamed(servers, rotating)
  const before = await connectionsOf(users, servers, rotating)
  const isFirst = offered.rotation?.step === 'offered'
  const switched = isFirst ? rotateNext(offered, users) : offered
  writeNatsAccess(place.accessFile, switched)
  onStep('switched, files not written')
  place.write(switched)
  onStep('switched, servers not reloaded')
  for (const [i, url] of servers.urls.entries()) {
    await bringTo(url, switched, servers, rotating)
    if (isFirst && before !== undefined) await untilBack(before, servers, rotating)
    if (i < servers.urls.length - 1) onStep(`reloaded ${i + 1} of ${servers.urls.length}`)
  }
  onStep('all signed in')
  const done = rotateNext(switched, users)
  writeNatsAccess(place.accessFile, done)
  onStep('done, files not written')
  place.write(done)
  return users
}

/** @throws MustAct a server of the cluster would be left with former passwords */
async function assertAllNamed(servers: Servers, { place, stop }: Rotating): Promise<void> {
  const answers = await asSystem({ ...servers, place, stop }, (nc) => askAll(nc, 'JSZ', {}))
  const names = (answers ?? []).map(({ server }) => server.name)
  if (names.length > servers.urls.length)
    throw new MustAct(
      `the cluster has ${names.length} servers (${names.toSorted().join(', ')}), and NATS_URL names ${servers.urls.length}: name each of them, separated by commas, so that none is left with former passwords`,
    )
}

/** One server has the new passwords. It is reloaded unless it has them already. */
async function bringTo(
  url: string,
  access: NatsAccess,
  servers: Servers,
  rotating: Rotating,
): Promise<void> {
  const deadlineMs = performance.now() + reloadedWithinMs
  let reloaded: Reloaded = 'silent'
  for (;;) {
    const refusal = await refusalBy(url, access, servers, rotating)
    if (refusal === undefined) return
    const { kind, words } = refusal
    // what it has read is a copy of the former file
    const isCopy = reloaded === 'reloaded' && kind === 'refused'
    if (isCopy || performance.now() > deadlineMs) {
      if (kind === 'silent') throw new TryAgain(words)
      throw new MustAct(
        `${shownUrl(url)} still has the former passwords. Where it reads a copy of users.conf, put the new one there, as on every other server with a copy, and run \`airproof access --finish\` again: it reloads them. Until then every process can sign in`,
      )
    }
    if (reloaded === 'silent' && kind === 'refused') {
      reloaded = await servers.reload(url)
      if (reloaded === 'denied')
        rotating.note(
          `this user may not reload ${shownUrl(url)}: run \`nats-server --signal reload\` there`,
        )
      if (reloaded !== 'silent') rotating.onStep?.('reloaded')
    }
    await sleep(lookEveryMs, undefined, { signal: rotating.stop })
  }
}

/** Why the server does not let one of the users in; undefined: it takes all of them. */
async function refusalBy(
  natsUrl: string,
  access: NatsAccess,
  { natsPinFile }: Servers,
  { stop }: Rotating,
): Promise<NatsTrouble | undefined> {
  for (const user of rotatedUsers(access)) {
    const natsLogin = { user, password: access.passwords[user] }
    const settings = { natsUrl, natsLogin, natsPinFile }
    try {
      const nc = await connectNats(settings, { name: 'airproof access', once: true, stop })
      await nc.close()
    } catch (cause) {
      return natsTrouble(cause, settings)
    }
  }
  return undefined
}

type Counts = ReadonlyMap<OwnUser, number>

/** How many connections each has on all servers; undefined: `system` may not ask, or gets no answer. */
function connectionsOf(
  users: readonly OwnUser[],
  servers: Servers,
  { place, stop }: Rotating,
): Promise<Counts | undefined> {
  // those of commands come and go
  const lasting = users.filter((user) => user !== 'operator' && user !== 'system')
  return asSystem({ ...servers, place, stop }, async (nc) => {
    const count = async (user: OwnUser) => {
      const answers = await askAll(nc, 'CONNZ', { auth: true, user })
      return [
        user,
        answers.reduce((sum, { data }) => sum + (data?.connections?.length ?? 0), 0),
      ] as const
    }
    return new Map(await Promise.all(lasting.map(count)))
  })
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
