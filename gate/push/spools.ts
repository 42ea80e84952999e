/**
 * Two gates may share a data folder: each keeps its waiting readings in a folder of its own, and
 * also sends what a gate that is gone has left in others.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MustAct } from '../../runtime/exit.ts'
import { openSpool, type Spool } from './spool.ts'

export type Spools = AsyncDisposable & {
  /** This gate's own. */
  readonly own: Spool
  /** This gate's own first. */
  readonly all: readonly Spool[]
}

/** More gates than run on one machine. */
const most = 16

/** @throws MustAct where other gates have all of them */
export async function openSpools(dataFolder: string, maxBytes: number): Promise<Spools> {
  await using opened = new AsyncDisposableStack()
  const all: Spool[] = []
  for (let number = 1; number <= most; number++) {
    const folder = join(dataFolder, number === 1 ? 'push-spool' : `push-spool-${number}`)
    if (all.length > 0 && !existsSync(folder)) continue
    const spool = await openSpool({ folder, maxBytes })
    if (spool === undefined) continue
    if (all.length === 0 || spool.bytes() > 0) all.push(opened.use(spool))
    else await spool[Symbol.asyncDispose]()
  }
  const [own] = all
  if (own === undefined)
    throw new MustAct(
      `${most} gates keep their readings in ${dataFolder} already: give this one another AIRPROOF_DATA`,
    )
  const closing = opened.move()
  return { own, all, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}
