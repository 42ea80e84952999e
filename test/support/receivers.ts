/** The example receivers as processes, each in its language if the machine has that. */
import { fileURLToPath } from 'node:url'
import { onPath, programFile, runTool } from '../../runtime/engines/tools.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from './eventually.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const languages = ['typescript', 'python', 'go'] as const
export type Language = (typeof languages)[number]

/** What a receiver prints of a delivery. */
export type Told =
  | {
      readonly id: string
      readonly event: string
      readonly timestamp: string
      readonly sensor: string
      readonly repeat: boolean
    }
  | { readonly refused: string }

export type ExampleReceiver = AsyncDisposable & {
  readonly url: string
  readonly reported: readonly Told[]
}

const env = environment()
const folderOf = (language: Language): string =>
  fileURLToPath(new URL(`../../examples/receivers/${language}`, import.meta.url))

const tools: Readonly<Record<Language, string | undefined>> = {
  typescript: process.execPath,
  python: onPath('python3', env) ?? onPath('python', env),
  go: onPath('go', env),
}

/** Why it cannot run here; undefined if it can. */
export const missing = (language: Language): string | undefined =>
  tools[language] === undefined ? `${language} is not on this machine` : undefined

export async function startReceiver(
  language: Language,
  { secret, header }: { readonly secret: string; readonly header?: string },
): Promise<ExampleReceiver> {
  await using opened = new AsyncDisposableStack()
  const reported: Told[] = []
  const printed: string[] = []
  const [command = '', ...args] = await commandOf(language, opened)
  const child = opened.use(
    await startChild({
      command,
      args,
      cwd: folderOf(language),
      env: {
        ...env,
        PYTHONDONTWRITEBYTECODE: '1',
        WEBHOOK_SECRET: secret,
        PORT: '0',
        ...(header === undefined ? {} : { SIGNATURE_HEADER: header }),
      },
      onLine: (line) => {
        printed.push(line)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test compares it
        if (line.startsWith('{')) reported.push(JSON.parse(line) as Told)
      },
    }),
  )
  const url = await eventually(`the receiver in ${language} listens`, () => {
    if (!child.isAlive()) throw new Error(`it ended: ${printed.join('\n')}`)
    return printed.map((line) => /^listening on (.+)$/.exec(line)?.[1]).find((one) => one)
  })
  const all = opened.move()
  return { url, reported, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

async function commandOf(
  language: Language,
  opened: AsyncDisposableStack,
): Promise<readonly string[]> {
  const tool = tools[language] ?? ''
  switch (language) {
    case 'typescript':
      return [tool, 'receiver.ts']
    case 'python':
      return [tool, 'receiver.py']
    case 'go': {
      // built first: `go run` would leave the receiver running when it is stopped
      const folder = opened.adopt(temporaryFolder(), (one) => one[Symbol.dispose]())
      const file = `${folder.path}/${programFile('receiver')}`
      const args = ['build', '-C', folderOf('go'), '-o', file, '.']
      await runTool(tool, args, { env: { ...env, GOTOOLCHAIN: 'local' }, timeoutMs: 120_000 })
      return [file]
    }
  }
}
