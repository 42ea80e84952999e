/**
 * A child of a bench: one of our processes that answers over HTTP, until the parent disconnects. It
 * sends its address, and its own CPU time in µs on request.
 */

import { openLog } from '../runtime/log.ts'
import { freePort } from '../runtime/machine/free-port.ts'
import { environment, readSharedConfig } from '../runtime/process/config.ts'
import type { ProcessMain } from '../runtime/process/process.ts'

/** @param portSetting the variable of its port */
export async function runAsChild(
  name: string,
  portSetting: string,
  run: ProcessMain,
): Promise<void> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const env = {
    ...environment(),
    [portSetting]: String(port),
    AIRPROOF_ADMIN_PORT: String(adminPort),
  }
  const source = { env, flags: {} }
  const config = readSharedConfig(source)
  const stop = new AbortController()
  process.on('disconnect', () => stop.abort('bench'))
  const running = run({
    config,
    ...source,
    log: openLog({ name, level: config.logLevel }),
    stop: stop.signal,
  })
  const isReady = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${adminPort}/ready`).catch(() => undefined))?.status === 200
  while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50))
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system })
  })
  process.send?.({ url: `http://127.0.0.1:${port}` })
  await running
}
