/** Requests of every kind that the document allows or forbids, made up by schemathesis. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { onPath } from '../../runtime/engines/tools.ts'
import { pythonPackage } from '../support/python-package.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { exampleAttempt, standInOwner, webhookApi } from '../support/webhook-api.ts'

const { env } = process
const timeoutMs = 240_000
const run = promisify(execFile)

test('every answer is as the document says, whatever is asked', { timeout: timeoutMs }, async ({
  skip,
}) => {
  const tools = await pythonPackage(
    { name: 'schemathesis', version: '4.32.5', withNeeded: true },
    env,
  )
  if ('missing' in tools) return skip(tools.missing)
  await using api = await webhookApi()
  using folder = temporaryFolder()
  const ada = await api.customer()
  await api.register({ id: 'NGR-LOS-IKJ-017' })
  await api.commit([{ sensor: 'NGR-LOS-IKJ-017', timeMs: Date.UTC(2026, 0, 31, 8) }])
  await ada.create()
  // nothing is sent: the addresses of its webhooks are made up too
  using _ = await standInOwner(api, '*', ({ op }) => {
    if (op === 'test') return { ok: true, op, attempt: exampleAttempt }
    if (op === 'replay') return { ok: true, op, delivery: 'msg_example' }
    if (op === 'recover') return { ok: true, op }
    return { ok: true, op, total: 0, deliveries: [], is_behind: false }
  })
  const python = onPath('python3', env) ?? onPath('python', env) ?? 'python3'
  const bounds = inject('soak') ? ['500', '900'] : ['3', '30']
  const [examples = '', seconds = ''] = bounds
  const args = ['-m', 'schemathesis.cli', 'run', `${api.url}/v1/openapi.json`]
  args.push('--header', `Authorization: Bearer ${ada.key}`, '--request-timeout', '20')
  args.push('--max-examples', examples, '--max-time', seconds, '--seed', '1', '--no-color')
  // a request that the document allows may still be a 400, which it also names: a schema cannot say
  // that end_time is later than start_time, that a cursor is one that was given out, or what a year is
  args.push('--exclude-checks', 'positive_data_acceptance')
  // it has no end
  args.push('--exclude-operation-id', 'stream')
  const ended = await run(python, args, {
    cwd: folder.path,
    env: { ...env, PYTHONPATH: tools.folder },
    timeout: timeoutMs,
    maxBuffer: 2 ** 26,
  }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => error,
  )
  // its own words are the best account of a failure
  if (ended.code !== 0) throw new Error(ended.stdout)
  expect(ended.stdout).toMatch(/Operations: +\d+ selected/)
})
