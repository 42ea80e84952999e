/** The least that a dashboard serves as its built pages. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { languages } from '../../dashboard/texts/languages.ts'

export function writeTinyPages(folder: string): void {
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'assets'), { recursive: true })
  write(
    'index.html',
    '<!doctype html><title>the shell</title><link rel="stylesheet" href="/base.css" /><div id="app"></div>',
  )
  write('base.css', 'body{}')
  write('assets/main-12345678.js', 'export {}')
  for (const language of languages) write(`assets/texts-${language}-12345678.js`, 'export {}')
}
