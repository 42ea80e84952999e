/**
 * A stock Firefox without a window, driven by WebDriver BiDi, which is W3C's protocol over a WebSocket. Playwright's own client
 * for it begins each window with a command that Firefox ESR does not know (`emulation.setMediaFeaturesOverride`).
 */
import { randomUUID } from 'node:crypto'
import { onPath } from '../../runtime/engines/tools.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from './eventually.ts'
import { temporaryFolder } from './temporary-folder.ts'

const env = environment()
const cutOff = /^TypeError: NetworkError when attempting to fetch resource/
const program = env['AIRPROOF_FIREFOX'] ?? onPath('firefox', env) ?? onPath('firefox-esr', env)

/** Why pages cannot be tested in it here, for the name of a skipped test; undefined if they can. */
export const firefoxMissing =
  program === undefined ? 'no firefox on PATH, and AIRPROOF_FIREFOX does not name one' : undefined

export type Firefox = AsyncDisposable & {
  readonly goTo: (url: string) => Promise<void>
  /** The value of an expression in the page; a promise is waited for. */
  readonly evaluate: (expression: string) => Promise<unknown>
  /** Waits until an expression is true. */
  readonly until: (expression: string) => Promise<void>
  readonly setWidth: (width: number) => Promise<void>
  readonly setFile: (selector: string, path: string) => Promise<void>
  /** Types into the field that a selector finds, key by key. */
  readonly type: (selector: string, text: string) => Promise<void>
  /** Errors of scripts and of the console: also what the content policy refused. */
  readonly complaints: readonly string[]
}

const announced = /WebDriver BiDi listening on (ws:\/\/\S+)/

export async function openFirefox(): Promise<Firefox> {
  if (program === undefined) throw new Error(firefoxMissing)
  await using opened = new AsyncDisposableStack()
  const { path: folder } = opened.use(temporaryFolder())
  let address: string | undefined
  opened.use(
    await startChild({
      command: program,
      args: ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port=0'],
      env: { ...env, HOME: folder, MOZ_CRASHREPORTER_DISABLE: '1' },
      isGuarded: true,
      onLine: (line) => {
        address ??= announced.exec(line)?.[1]
      },
    }),
  )
  const socketUrl = await eventually('Firefox listens', () => address)
  const complaints: string[] = []
  const line = opened.use(
    await openLine(`${socketUrl}/session`, ({ method, params }) => {
      if (method === 'log.entryAdded' && params['level'] === 'error')
        if (!cutOff.test(String(params['text'])))
          // what leaving a page cuts off
          complaints.push(String(params['text']))
    }),
  )
  const { ask } = line
  await ask('session.new', { capabilities: {} })
  await ask('session.subscribe', { events: ['log.entryAdded'] })
  const { context } = await ask('browsingContext.create', { type: 'tab' })
  const run = async (expression: string): Promise<Answer> => {
    const answer = await ask('script.evaluate', {
      expression,
      target: { context },
      awaitPromise: true,
    })
    if (answer['type'] === 'exception') throw new Error(JSON.stringify(answer['exceptionDetails']))
    return asAnswer(answer['result'])
  }
  const evaluate: Firefox['evaluate'] = async (expression) => {
    const text = (await run(`Promise.resolve(${expression}).then(JSON.stringify)`))['value']
    return typeof text === 'string' ? JSON.parse(text) : undefined
  }
  const all = opened.move()
  return {
    complaints,
    evaluate,
    goTo: async (url) =>
      void (await ask('browsingContext.navigate', { context, url, wait: 'complete' })),
    until: async (expression) => {
      const isSo = async () => (await evaluate(`!!(${expression})`)) === true
      await eventually(expression, isSo)
    },
    setWidth: async (width) =>
      void (await ask('browsingContext.setViewport', {
        context,
        viewport: { width, height: 800 },
      })),
    setFile: async (selector, path) => {
      const { sharedId } = await run(`document.querySelector(${JSON.stringify(selector)})`)
      await ask('input.setFiles', { context, element: { sharedId }, files: [path] })
    },
    type: async (selector, text) => {
      await run(`document.querySelector(${JSON.stringify(selector)}).focus()`)
      const actions = Array.from(text).flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ])
      const keys = { type: 'key', id: randomUUID(), actions }
      await ask('input.performActions', { context, actions: [keys] })
    },
    [Symbol.asyncDispose]: async () => {
      await ask('browser.close', {}).catch(() => undefined)
      await all.disposeAsync()
    },
  }
}

type Answer = Readonly<Record<string, unknown>>
type Message = { readonly method: string; readonly params: Answer }
type Line = AsyncDisposable & { readonly ask: (method: string, params: object) => Promise<Answer> }

// what BiDi answers is always an object
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const asAnswer = (value: unknown): Answer => value as Answer

/** Commands and their answers, by number; the rest are events. */
async function openLine(url: string, hear: (event: Message) => void): Promise<Line> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, PromiseWithResolvers<Answer>>()
  const end = (): void => {
    for (const answer of waiting.values()) answer.reject(new Error('Firefox has ended'))
    waiting.clear()
  }
  const isOpen = Promise.withResolvers<void>()
  socket.addEventListener('open', () => isOpen.resolve())
  socket.addEventListener('error', () => isOpen.reject(new Error(`${url} cannot be reached`)))
  socket.addEventListener('close', end)
  socket.addEventListener('message', ({ data }) => {
    const message: Message & { id?: number; result: Answer; error?: string; message?: string } =
      JSON.parse(String(data))
    if (message.id === undefined) return hear(message)
    const answer = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.error === undefined) answer?.resolve(message.result)
    else answer?.reject(new Error(`${message.error}: ${message.message}`))
  })
  await isOpen.promise
  let count = 0
  return {
    ask: async (method, params) => {
      const answer = Promise.withResolvers<Answer>()
      waiting.set(++count, answer)
      socket.send(JSON.stringify({ id: count, method, params }))
      return answer.promise
    },
    [Symbol.asyncDispose]: async () => socket.close(),
  }
}
