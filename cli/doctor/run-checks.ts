/** Runs checks at once, each within its time, so that servers that hang do not hold up the rest. */
import { availableParallelism, loadavg } from 'node:os'
import type { Check, World } from './check.ts'
import { broken, brokenBy, type Finding, skipped } from './finding.ts'
import { orLate } from './or-late.ts'

export type Checked = Finding & { readonly check: string }

/** With the start of the program the whole ends within 5 s. */
export const checkWithinMs = 2_500
/** How often a line says what is waited for. */
const noteEveryMs = 1_000

type Options = {
  readonly note: (line: string) => void
  readonly withinMs?: number
}

export async function runChecks(
  checks: readonly Check[],
  world: World,
  { note, withinMs = checkWithinMs }: Options,
): Promise<readonly Checked[]> {
  const waiting = new Set<string>()
  const timer = setInterval(
    () => note(`waiting for an answer: ${[...waiting].join(', ')}`),
    noteEveryMs,
  )
  try {
    const all = await Promise.all(
      checks.map(async (check): Promise<readonly Checked[]> => {
        waiting.add(check.name)
        const findings = await findingsOf(check, world, withinMs)
        waiting.delete(check.name)
        return findings.map((finding) => ({ check: check.name, ...finding }))
      }),
    )
    return withoutRepeats(all.flat())
  } finally {
    clearInterval(timer)
  }
}

/** A setting that several checks read is named by the first of them. */
function withoutRepeats(findings: readonly Checked[]): readonly Checked[] {
  const first = new Map(findings.toReversed().map((finding) => [finding.what, finding]))
  return findings.filter(
    (finding) => finding.level === 'skipped' || first.get(finding.what) === finding,
  )
}

async function findingsOf(
  { name, needs, run }: Check,
  world: World,
  withinMs: number,
): Promise<readonly Finding[]> {
  const running = (async (): Promise<readonly Finding[]> => {
    if (needs !== 'nothing' && !(await isThere(world.nats()))) return [skipped('needs NATS')]
    if (needs === 'streams' && !(await world.isMade())) return [skipped('there is no instance yet')]
    return await run(world)
  })()
  try {
    return (
      (await orLate(running, withinMs)) ?? [late(`${name}: no answer within ${withinMs / 1_000} s`)]
    )
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return [late(`${name}: no answer in time`)]
    return [brokenBy(error)]
  }
}

/** On a machine that has no time for us, no answer says nothing about the server. */
function late(what: string): Finding {
  const [load = 0] = loadavg()
  const processors = availableParallelism()
  return broken(
    what,
    load > 2 * processors
      ? `this machine has a load of ${Math.round(load)} on ${processors} processors: run doctor again when it is less, or see what causes it`
      : 'see whether it is overloaded, frozen, or behind a firewall that drops what it should refuse',
  )
}

const isThere = (connecting: Promise<unknown>): Promise<boolean> =>
  connecting.then(
    () => true,
    () => false,
  )
