import { readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inWords } from '../../runtime/exit.ts'
import type { Logger } from '../../runtime/log.ts'
import type { Supervised } from '../../runtime/machine/keep-alive.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Folders that none of our processes imports. */
const notOurs = new Set(['node_modules', 'test', 'bench', 'docs', 'examples', 'bin'])
const folders = (): string[] =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .filter((name) => !notOurs.has(name))

const pages = 'dashboard/web/'
/** The build itself writes the built pages, aside and in place. */
const built = /^dashboard\/web\/dist/
/** An editor writes a file in several steps, and several files at once. */
const quietMs = 200

type Options = {
  readonly log: Logger
  readonly stop: AbortSignal
  /** Builds the pages where they are older than their sources. */
  readonly buildPages: () => Promise<void>
}

/**
 * For development: when a source file changes, the pages are built again if they are older than it,
 * and every process of ours starts again; for a file of the pages, only the dashboard does.
 */
export function restartOnChange(
  running: readonly Supervised[],
  { log, stop, buildPages }: Options,
): void {
  const ours = running.filter(({ name }) => name !== 'nats-server' && name !== 'anvil')
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()
  const restart = async (): Promise<void> => {
    const files = [...changed]
    changed.clear()
    if (files.length === 0) return
    log.info({ files: files.slice(0, 5) }, 'source changed: restarting what depends on it')
    await buildPages().catch((error: unknown) => log.error({ err: error }, inWords(error)))
    const isPagesOnly = files.every((file) => file.startsWith(pages))
    for (const one of ours) if (!isPagesOnly || one.name === 'dashboard') void one.restart()
  }
  const note = (file: string): void => {
    if (built.test(file) || !(file.endsWith('.ts') || file.startsWith(pages))) return
    changed.add(file)
    clearTimeout(timer)
    timer = setTimeout(() => {
      // one build at a time
      working = working.then(restart)
    }, quietMs)
  }
  for (const folder of folders())
    watch(join(root, folder), { recursive: true, signal: stop }, (_event, file) =>
      note(`${folder}/${(file ?? '').replaceAll('\\', '/')}`),
    )
  stop.addEventListener('abort', () => clearTimeout(timer), { once: true })
}
