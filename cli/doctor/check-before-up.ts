import { WrongUsage } from '../../runtime/exit.ts'
import { checks } from './checks.ts'
import { openWorld, type WorldOptions } from './open-world.ts'
import { runChecks } from './run-checks.ts'

type Options = Pick<WorldOptions, 'source' | 'config' | 'stop'> & {
  readonly note: (line: string) => void
}

/**
 * What an operator should know before nine processes are started and wait for it. A server that is
 * broken now may be there in a moment, so it is only noted.
 * @throws WrongUsage a process could not read its settings
 */
export async function checkBeforeUp({ note, ...options }: Options): Promise<void> {
  await using world = openWorld(options)
  const before = checks.filter(({ isBeforeUp }) => isBeforeUp)
  // an instance that a killed `up` has left is not there
  const found = await runChecks(before, { ...world, running: undefined }, { note })
  const broken = found.filter(({ level }) => level === 'broken')
  const settings = broken.filter(({ check }) => check === 'settings')
  if (settings.length > 0) throw new WrongUsage(settings.map(({ what }) => what).join('\n'))
  for (const { check, what, fix } of broken)
    note(`${check}: ${what}${fix === undefined ? '' : `: ${fix}`}`)
}
