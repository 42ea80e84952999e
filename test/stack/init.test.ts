/** `airproof init` as an operator meets it: by flags, and on a terminal. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { onPath } from '../../runtime/engines/tools.ts'
import { environment } from '../../runtime/process/config.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Outcome = { readonly code: number | null; readonly out: string; readonly err: string }

const program = resolve('bin/airproof.mjs')
const run = (cwd: string, file: string, args: readonly string[], typed = ''): Promise<Outcome> =>
  new Promise((done) => {
    const child = execFile(file, args, { cwd, env: environment() }, (_error, out, err) =>
      done({ code: child.exitCode, out, err }),
    )
    child.stdin?.end(typed)
  })
const init = (cwd: string, ...flags: readonly string[]): Promise<Outcome> =>
  run(cwd, process.execPath, [program, 'init', ...flags])

const berlin = [
  '--network-name=Berlin',
  '--id-prefix=BER',
  '--map-box=13.0,52.3,13.8,52.7',
] as const
const settingsIn = (folder: string) => parseEnv(readFileSync(join(folder, '.env'), 'utf8'))

test('it writes what the flags say, for its owner alone, and what to run next', async () => {
  using folder = temporaryFolder()
  const { code, out } = await init(folder.path, ...berlin)
  expect(code).toBe(0)
  expect(settingsIn(folder.path)).toEqual({
    AIRPROOF_NETWORK_NAME: 'Berlin',
    AIRPROOF_ID_PREFIX: 'BER',
    AIRPROOF_MAP_BOX: '13.0,52.3,13.8,52.7',
    AIRPROOF_TIMEZONE: 'Europe/Berlin',
  })
  expect(statSync(join(folder.path, '.env')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder.path)).toEqual(['.env'])
  for (const next of ['airproof map build', 'airproof up', 'sensors add --id BER-CEN-001'])
    expect(out).toContain(next)
  // once more: nothing changes
  const again = await init(folder.path, ...berlin)
  expect([again.code, again.out]).toEqual([0, expect.stringContaining('has these settings')])
})

test('what .env has is kept, and replaced only when asked', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, '.env')
  const others = '# ours\nSMTP_URL="smtp://mail.example.org"\nexport AIRPROOF_ID_PREFIX=MUC'
  writeFileSync(file, others)
  const refused = await init(folder.path, ...berlin)
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('.env has another AIRPROOF_ID_PREFIX: --replace')
  expect(readFileSync(file, 'utf8')).toBe(others)
  expect((await init(folder.path, ...berlin, '--replace')).code).toBe(0)
  expect(readFileSync(file, 'utf8')).toMatch(/^# ours\nSMTP_URL="smtp:\/\/mail\.example\.org"\n/)
  expect(settingsIn(folder.path)).toMatchObject({ AIRPROOF_ID_PREFIX: 'BER' })
  // one more setting needs only its flag
  expect((await init(folder.path, '--language', 'fr')).code).toBe(0)
  expect(settingsIn(folder.path)).toMatchObject({
    AIRPROOF_LANGUAGE: 'fr',
    AIRPROOF_NETWORK_NAME: 'Berlin',
    SMTP_URL: 'smtp://mail.example.org',
  })
})

test.each([
  [['--id-prefix', 'ber'], /AIRPROOF_ID_PREFIX .*must be capitals like NGR-LOS or BER/],
  [['--id-prefix', 'BER-'], /AIRPROOF_ID_PREFIX/],
  [['--timezone', 'Europe/Bärlin'], /AIRPROOF_TIMEZONE .*IANA/],
  [['--map-box', '13.8,52.3,13.0,52.7'], /AIRPROOF_MAP_BOX .*west before its east/],
  [['--map-box', '13,52,14,91'], /AIRPROOF_MAP_BOX .*within 85 degrees/],
  [['--map-box', '13,52,14'], /AIRPROOF_MAP_BOX .*west,south,east,north/],
  [['--language', 'de'], /AIRPROOF_LANGUAGE .*one of en, fr/],
  [['--usual-ranges', 'temperature=40..-20'], /AIRPROOF_USUAL_RANGES .*lower end first/],
  [['--usual-ranges', 'pm25=0..40'], /AIRPROOF_USUAL_RANGES .*co2 or temperature/],
  [['--network-name', 'a\nb'], /AIRPROOF_NETWORK_NAME .*one line/],
])('%j is refused, and nothing is written', async (flags, words) => {
  using folder = temporaryFolder()
  // the last of two flags counts
  const { code, err } = await init(folder.path, ...berlin, ...flags)
  expect([code, err]).toEqual([2, expect.stringMatching(words)])
  expect(existsSync(join(folder.path, '.env'))).toBe(false)
})

test('without a terminal it says which flags are missing', async () => {
  using folder = temporaryFolder()
  const { code, err } = await init(folder.path, '--network-name', 'Berlin')
  expect(code).toBe(2)
  expect(err).toContain('give --id-prefix, --map-box')
})

test('the prefix of a folder with data cannot change', async () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, '.airproof', 'nats'), { recursive: true })
  const { code, err } = await init(folder.path, ...berlin)
  expect([code, err]).toEqual([1, expect.stringContaining('ids begin with NGR-LOS')])
  expect(existsSync(join(folder.path, '.env'))).toBe(false)
})

/** A terminal of its own: types what it is given, prints what is shown. */
const inTerminal = `
import os, pty, re, signal, sys
signal.alarm(50)
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
typed = iter(sys.stdin.read().split("\\n"))
seen = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    sys.stdout.buffer.write(part)
    seen += part
    if re.sub(rb"\\x1b\\[[0-9;]*[A-Za-z]", b"", seen).endswith(b": "):
        seen = b""
        os.write(terminal, (next(typed) + "\\n").encode())
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`

const python = onPath('python3', environment())

test.skipIf(python === undefined)(
  `on a terminal it asks, offers, and asks again after a wrong answer${python === undefined ? ' (Python makes the terminal, and is not on this machine)' : ''}`,
  async () => {
    using folder = temporaryFolder()
    const typed = (...lines: readonly string[]): Promise<Outcome> =>
      run(
        folder.path,
        python ?? '',
        ['-c', inTerminal, process.execPath, program, 'init'],
        lines.join('\n'),
      )
    // name, prefix twice, zone as offered, box, no ranges, language as offered
    const first = await typed('Berlin', 'ber', 'BER', '', '13.0,52.3,13.8,52.7', '', '')
    expect([first.code, first.out]).toEqual([0, expect.stringContaining('[Europe/Berlin]: ')])
    expect(first.out).toContain('must be capitals')
    expect(settingsIn(folder.path)).toEqual({
      AIRPROOF_NETWORK_NAME: 'Berlin',
      AIRPROOF_ID_PREFIX: 'BER',
      AIRPROOF_TIMEZONE: 'Europe/Berlin',
      AIRPROOF_MAP_BOX: '13.0,52.3,13.8,52.7',
      AIRPROOF_LANGUAGE: 'en',
    })
    // another name: no keeps the former one, yes does not
    const rest = ['', '', '', '', ''] as const
    const kept = await typed('Brandenburg', ...rest, 'no')
    expect([kept.code, kept.out]).toEqual([1, expect.stringContaining('Replace? [y/N]')])
    expect(settingsIn(folder.path)).toMatchObject({ AIRPROOF_NETWORK_NAME: 'Berlin' })
    expect((await typed('Brandenburg', ...rest, 'yes')).code).toBe(0)
    expect(settingsIn(folder.path)).toMatchObject({ AIRPROOF_NETWORK_NAME: 'Brandenburg' })
  },
)
