/** The compose file and the Dockerfile as a test reads them: without Docker. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { commandsOf } from './city-pages.ts'

export type ComposeService = {
  readonly image?: string
  readonly build?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean }
  readonly profiles?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly deploy?: { readonly replicas: number }
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly secrets?: readonly string[]
  readonly volumes?: readonly string[]
}

export type Compose = {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly configs: Readonly<Record<string, { readonly content: string }>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly volumes: Readonly<Record<string, unknown>>
}

/** The set-up commands of docs/city/with-compose.md, one per line. */
export const readSteps = (): readonly string[] => commandsOf('docs/city/with-compose.md')

export const readCompose = (): Compose =>
  parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as Compose

export type Recipe = {
  readonly entrypoint: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  /** Whether it copies everything that `.dockerignore` does not leave out. */
  readonly copiesAll: boolean
  readonly ignored: readonly string[]
}

/** What the last stage of the Dockerfile runs, and as which user. */
export function readRecipe(): Recipe {
  const lines = (
    readFileSync('Dockerfile', 'utf8')
      .split(/^FROM /m)
      .at(-1) ?? ''
  ).split('\n')
  const last = (word: string): string =>
    lines.findLast((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? ''
  return {
    entrypoint: JSON.parse(last('ENTRYPOINT')) as string[],
    env: Object.fromEntries(
      last('ENV')
        .split(' ')
        .map((pair) => pair.split('=', 2)),
    ),
    user: last('USER'),
    copiesAll: lines.includes('COPY . .'),
    ignored: readFileSync('.dockerignore', 'utf8').trim().split('\n'),
  }
}
