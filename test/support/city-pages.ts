/** The commands of the pages that go from nothing to a running city. */
import { readFileSync } from 'node:fs'

/** Of every block for a shell, one per line; a here-document stays with the line that it belongs to. */
export function commandsOf(page: string): readonly string[] {
  const commands: string[] = []
  const blocks = readFileSync(page, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)
  for (const [, text = ''] of blocks) {
    let end: string | undefined
    for (const line of text.trimEnd().split('\n')) {
      if (end !== undefined) {
        commands.push(`${commands.pop()}\n${line}`)
        if (line === end) end = undefined
        continue
      }
      commands.push(line.replace(/ {2,}# .*$/, ''))
      end = /<<'(\w+)'$/.exec(line)?.[1]
    }
  }
  return commands
}

/** What doctor printed; undefined if it found nothing but the machine's load, and is to be run again. */
export const orLoaded = (running: Promise<string>): Promise<string | undefined> =>
  running.catch((error: unknown) => {
    const printed = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    const broken = printed.split('\n').filter((line) => line.startsWith('broken'))
    if (broken.length > 0 && broken.every((line) => line.includes('no answer'))) return undefined
    throw error
  })
