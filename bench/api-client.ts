/** Asks servers of the API's benchmarks, each a child process, so that its CPU is its own. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { fileURLToPath } from 'node:url'
import { key } from './api-city.ts'

const headers = { authorization: `Bearer ${key}` }
const agent = new Agent({ keepAlive: true, maxSockets: 16 })

export const closeClient = (): void => agent.destroy()

/** The bytes of an answer that must be 200. */
export async function ask(url: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  get(url, { agent, headers }, (response) => {
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    response.on('end', () => {
      if (response.statusCode === 200) resolve(bytes)
      else reject(new Error(`${url} gave ${response.statusCode}`))
    })
  }).on('error', reject)
  return promise
}

export async function load(url: string, count: number): Promise<void> {
  let left = count
  const lane = async (): Promise<void> => {
    while (left-- > 0) await ask(url)
  }
  await Promise.all(Array.from({ length: 16 }, lane))
}

export type Child = AsyncDisposable & {
  readonly url: string
  readonly cpuUs: () => Promise<number>
  readonly userUs: () => Promise<number>
}

/** @param args of the program, as text */
export async function startServer(file: string, args: readonly number[]): Promise<Child> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args.map(String))
  const nextMessage = async (): Promise<{ url?: string; cpuUs?: number; userUs?: number }> => {
    const [message] = await once(child, 'message')
    return message
  }
  const { url = '' } = await nextMessage()
  const cpuTimes = () => {
    const answer = nextMessage()
    child.send('cpu')
    return answer
  }
  return {
    url,
    cpuUs: async () => (await cpuTimes()).cpuUs ?? Number.NaN,
    userUs: async () => (await cpuTimes()).userUs ?? Number.NaN,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}
