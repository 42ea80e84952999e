/**
 * Two gates may share a data folder: each keeps what waits for NATS in a folder of its own, and
 * sends on what one that is gone has left in others.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MustAct } from '../../runtime/exit.ts'
import { openSpool, type Spool } from './spool.ts'

export type Spools = AsyncDisposable & {
  /** Where this gate keeps its own. */
  readonly own: Spool
  /** Its own first. */
  readonly all: readonly Spool[]
}

/** More than the gates that anybody runs on one machine. */
const most = 16

/** @throws MustAct where as many gates have them all */
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
