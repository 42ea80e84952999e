/** Starts a child that serves (`serveFor`), and asks it for its own CPU time. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type ApiServer = AsyncDisposable & {
  readonly url: string
  readonly cpuUs: () => Promise<number>
}

/** @param file of this folder @param sensors how many its city has */
export async function startServer(file: string, sensors: number): Promise<ApiServer> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [String(sensors)])
  const nextMessage = async (): Promise<{ url?: string; cpuUs?: number }> => {
    const [message] = await once(child, 'message')
    return message
  }
  const { url = '' } = await nextMessage()
  return {
    url,
    cpuUs: async () => {
      const answer = nextMessage()
      child.send('cpu')
      return (await answer).cpuUs ?? Number.NaN
    },
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}
