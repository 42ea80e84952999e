/**
 * Another key with which the gate signs its verdicts. A server takes its issuer when it starts, and at no
 * reload, so the gates have both seeds until every server was restarted, one after the other. Each server
 * names its issuer in every question (`issuerTag`), so each gets a verdict that it accepts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { secondMs } from '../../core/time.ts'
import {
  openNatsAccess,
  rotateNext,
  usersFileOf,
  writeNatsAccess,
} from '../../runtime/engines/nats-access.ts'
import { issuerTag } from '../../runtime/engines/nats-users.ts'
import { MustAct } from '../../runtime/exit.ts'
import { asSystem } from './as-system.ts'
import { askAll } from './ask-servers.ts'
import type { Rotating } from './rotate.ts'

export type Restarting = {
  /** Each of them: one that is not restarted has the former issuer. */
  readonly urls: readonly string[]
  readonly natsPinFile?: string | undefined
  /** Starts our own server again; undefined: only an operator can do it. */
  readonly restart?: (() => void) | undefined
}

const restartedWithinMs = 60 * secondMs
const lookEveryMs = 250

/** From now on gates have the next seed too. Nothing else changes. @throws MustAct another rotation is under way */
export function offerSeed({ place, onStep = () => undefined }: Rotating): void {
  const access = openNatsAccess(place.accessFile)
  if (access.rotation !== undefined && access.rotation.issuerSeed === undefined)
    throw new MustAct(
      'the rotation of passwords is not finished: end it first with `airproof access --finish`',
    )
  const next = access.rotation === undefined ? rotateNext(access, 'seed') : access
  writeNatsAccess(place.accessFile, next)
  onStep('offered, files not written')
  place.write(next)
  onStep('offered')
}

/**
 * The servers' configuration names the next key; when all were restarted, the former one is deleted.
 * @throws MustAct a server is to be restarted: which, how, and to run it again
 */
export async function finishSeed(servers: Restarting, rotating: Rotating): Promise<void> {
  const { place, onStep = () => undefined } = rotating
  const offered = openNatsAccess(place.accessFile)
  const switched = offered.rotation?.step === 'offered' ? rotateNext(offered, 'seed') : offered
  writeNatsAccess(place.accessFile, switched)
  onStep('switched, files not written')
  place.write(switched)
  onStep('switched, servers not restarted')
  const tag = issuerTag(usersFileOf(switched).issuer)
  if ((await formerOnes(tag, servers, rotating)).length > 0) servers.restart?.()
  onStep('restarted')
  const deadlineMs = performance.now() + (servers.restart === undefined ? 0 : restartedWithinMs)
  for (;;) {
    const former = await formerOnes(tag, servers, rotating)
    if (former.length === 0) break
    if (performance.now() > deadlineMs)
      throw new MustAct(
        `to be restarted, one after the other, each when the one before it is healthy: ${former.join(', ')}. On each: put the new users.conf where the server reads it, restart the server, and wait until its /healthz answers 200. Then run \`airproof access --finish\` again. Until then every sensor can sign in`,
      )
    await sleep(lookEveryMs, undefined, { signal: rotating.stop })
  }
  const done = rotateNext(switched, 'seed')
  writeNatsAccess(place.accessFile, done)
  onStep('done, files not written')
  place.write(done)
}

/** The servers that were not started with the new issuer yet, or that do not answer. */
async function formerOnes(
  tag: string,
  { urls, natsPinFile }: Restarting,
  { place, stop }: Rotating,
): Promise<readonly string[]> {
  const as = { urls, natsPinFile, place, stop }
  const answers = (await asSystem(as, (nc) => askAll(nc, 'JSZ', {}))) ?? []
  const former = answers.filter(({ server }) => server.tags?.includes(tag) !== true)
  const silent = Math.max(0, urls.length - answers.length)
  return [
    ...former.map(({ server }) => server.name).toSorted(),
    ...(silent === 0 ? [] : [`${silent} that did not answer`]),
  ]
}
