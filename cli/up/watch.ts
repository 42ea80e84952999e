import { watch } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../../runtime/log.ts'
import type { Kept } from '../../runtime/machine/keep-alive.ts'

const sources = [
  'core',
  'schemas',
  'runtime',
  'operate',
  'store',
  'gate',
  'pipeline',
  'anchor',
  'notifier',
  'api',
  'dashboard',
  'cli',
]
/** An editor writes a file in several steps, and several files at once. */
const quietMs = 200

type Options = { readonly log: Logger; readonly stop: AbortSignal }

/** For development: every process of ours starts again when a source file changes. */
export function restartOnChange(kept: readonly Kept[], { log, stop }: Options): void {
  const ours = kept.filter(({ name }) => name !== 'nats-server' && name !== 'anvil')
  let timer: NodeJS.Timeout | undefined
  const changed = (file: string | null): void => {
    if (!file?.endsWith('.ts')) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      log.info({ file }, 'source changed: starting the processes again')
      for (const one of ours) void one.restart()
    }, quietMs)
  }
  for (const folder of sources) {
    const path = fileURLToPath(new URL(`../../${folder}`, import.meta.url))
    watch(path, { recursive: true, signal: stop }, (_event, file) => changed(file))
  }
  stop.addEventListener('abort', () => clearTimeout(timer), { once: true })
}
