import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openUpOutput } from '../../cli/up/output.ts'
import { openStartProgress } from '../../cli/up/progress.ts'
import { openLog } from '../../runtime/log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function started(isTerminal: boolean) {
  let text = ''
  const progress = openStartProgress({ isTerminal, write: (more) => (text += more) })
  return { progress, text: () => text }
}

test('on a terminal one line grows, and other output meanwhile does not cut it', () => {
  const { progress, text } = started(true)
  progress.starts('NATS')
  progress.isUp('NATS')
  progress.starts('chain')
  expect(text()).toBe('starting  NATS ✓ chain ')
  progress.note('a warning')
  progress.isUp('chain')
  progress[Symbol.dispose]()
  expect(text()).toBe('starting  NATS ✓ chain \na warning\nstarting  NATS ✓ chain ✓\n')
})

test('in a pipe each thing that is up is a line', () => {
  const { progress, text } = started(false)
  for (const name of ['NATS', 'chain']) {
    progress.starts(name)
    progress.isUp(name)
  }
  progress[Symbol.dispose]()
  expect(text()).toBe('NATS is up\nchain is up\n')
})

test('after ten seconds the reason for waiting is shown, and again when it changes', () => {
  const { progress, text } = started(false)
  let why: string | undefined
  progress.starts('api', () => why)
  vi.advanceTimersByTime(9_000)
  expect(text()).toBe('')
  why = 'store: no bucket'
  vi.advanceTimersByTime(1_000)
  expect(text()).toBe('waiting for api: store: no bucket\n')
  vi.advanceTimersByTime(30_000)
  expect(text()).toBe('waiting for api: store: no bucket\n')
  why = 'nats: away'
  vi.advanceTimersByTime(10_000)
  expect(text()).toContain('waiting for api: nats: away\n')
  progress.isUp('api')
  vi.advanceTimersByTime(60_000)
  expect(text().trimEnd().split('\n')).toHaveLength(3)
})

function output(holdsBack = true) {
  let text = ''
  const up = openUpOutput({ isTerminal: false, write: (more) => (text += more), holdsBack })
  const log = openLog({ name: 'gate', level: 'info', to: up.log })
  return { up, log, text: () => text }
}

test('until it is up only warnings are shown; the rest is in start.log', () => {
  using folder = temporaryFolder()
  const { up, log, text } = output()
  log.info('taking pushes')
  log.warn({ port: 7 }, 'something odd')
  expect(text()).toMatch(/^\[.*\] WARN \(gate\): something odd \{"port":7\}\n$/)
  up.isUp(folder.path)
  expect(readFileSync(join(folder.path, 'start.log'), 'utf8')).toContain('"msg":"taking pushes"')
  log.info('afterwards')
  expect(text()).toContain('INFO (gate): afterwards\n')
})

test('a start that fails shows what was held back, and each line once', () => {
  const { up, log, text } = output()
  log.info('taking pushes')
  log.warn('something odd')
  up.hasFailed()
  expect(text().match(/taking pushes/g)).toHaveLength(1)
  expect(text().match(/something odd/g)).toHaveLength(1)
})

test('with debug nothing is held back', () => {
  const { log, text } = output(false)
  log.info('taking pushes')
  expect(text()).toContain('taking pushes')
})
