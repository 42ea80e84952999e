import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commands } from '../../cli/commands.ts'
import { refusalReasons } from '../../core/state/log-message.ts'
import { decodeRaw, isFault, isRawReading } from '../../schemas/log/raw-reading.ts'

const page = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')

const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  )

describe('the page for sensors', () => {
  const sensors = page('sensors.md')

  it('names every reason to refuse, in a row of its table', () => {
    const rows = [...sensors.matchAll(/^\| `([a-z_]+)` \| .* \| .* \|$/gm)].map(([, name]) => name)
    expect(rows).toEqual(expect.arrayContaining([...refusalReasons]))
  })

  it('shows readings that are readings', () => {
    const bodies = blocks(sensors, 'json').filter((block) => block.includes('timestamp'))
    expect(bodies).toHaveLength(3)
    for (const body of bodies) {
      const items = decodeRaw(new TextEncoder().encode(body))
      expect(isFault(items)).toBe(false)
      expect([...(isFault(items) ? [] : items)].every(isRawReading)).toBe(true)
    }
  })
})

describe('servers that others run', () => {
  it.each(['docs/operations.md', 'docs/growing.md', 'docker-compose.yml'])(
    'write before they answer in %s',
    (file) => {
      const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
      const streams = [...text.matchAll(/^\s*jetstream \{[^}]*\}/gm)].map(([block]) => block)
      expect(streams).not.toEqual([])
      for (const block of streams) expect(block).toContain('sync_interval: always')
    },
  )
})

describe('the page of the command line', () => {
  it('names every command', () => {
    const cli = page('cli.md')
    for (const name of Object.keys(commands))
      expect(cli).toMatch(new RegExp(`^\\| .*\`${name}\\b`, 'm'))
  })
})

describe('every command', () => {
  it.each(Object.keys(commands))('%s has usage and examples', async (name) => {
    const command = await commands[name]?.()
    const help = command?.help ?? ''
    expect(help).toMatch(new RegExp(`^usage: airproof ${name}\\b`))
    expect(help).toMatch(new RegExp(`examples:\n[\\s\\S]*airproof ${name}\\b`))
    expect(command?.summary).toMatch(/^.{10,79}$/)
    expect(help.split('\n').filter((line) => line.length > 100)).toEqual([])
  })
})
