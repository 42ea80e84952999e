/** What is in deploy/systemd: units that systemd takes, with the secrets that compose gives each process. */
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import { environment } from '../../runtime/process/config.ts'
import { readCompose } from '../support/compose.ts'
import { allOf, credentialsOf, readUnit } from '../support/systemd.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const processes = ['pipeline', 'anchor', 'notifier', 'archive', 'api', 'dashboard', 'gate']
const { services } = readCompose()
const env = environment()

test('systemd-analyze finds no fault in any of them', async (context) => {
  const analyze = onPath('systemd-analyze', env)
  if (analyze === undefined) return context.skip('there is no systemd-analyze on this machine')
  using folder = temporaryFolder()
  cpSync('deploy/systemd', folder.path, { recursive: true })
  // it looks for the programs, which are not where an operator has them
  for (const file of globSync(join(folder.path, '*.service')))
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replaceAll(/^ExecStart=\S+/gm, `ExecStart=${process.execPath}`),
    )
  const names = [
    'airproof-up.service',
    'airproof-nats.service',
    ...processes.map((name) => `airproof@${name}.service`),
  ]
  const verify = async (...units: string[]): Promise<string> => {
    const run = { env: { ...env, SYSTEMD_UNIT_PATH: `${folder.path}:` }, timeoutMs: 60_000 }
    const line = '"$0" verify --man=no "$@" 2>&1 || true'
    const printed = await runTool('sh', ['-c', line, analyze, ...units], run)
    return printed
      .split('\n')
      .filter((one) => one.includes('airproof') || one.includes(folder.path))
      .join('\n')
  }
  expect(await verify(...names)).toBe('')
  // a drop-in that is wrong is found
  const [dropIn = ''] = globSync(join(folder.path, 'airproof@api.service.d/*.conf'))
  writeFileSync(dropIn, '[Service]\nLoadCredentials=x:/y\n')
  expect(await verify('airproof@api.service')).toContain('LoadCredentials')
})

test.each(processes)('%s has the secrets and settings that compose gives it', (name) => {
  const unit = readUnit('airproof@.service', name)
  const files = credentialsOf(unit).map(([, file]) => basename(file))
  expect(files.toSorted()).toEqual([...(services[name]?.secrets ?? [])].toSorted())
  expect(
    credentialsOf(unit).filter(([, file]) => !file.startsWith('/etc/airproof/secrets/')),
  ).toEqual([])
  const assigned = allOf(unit, 'Environment').flatMap((line) => line.split(' '))
  const inFiles = (settings: readonly (readonly [string, string])[], place: string): string[] =>
    settings
      .filter(([, value]) => value.startsWith(place))
      .map(([key]) => key)
      .toSorted()
  const ours = assigned.map((pair) => pair.split('=', 2) as [string, string])
  const theirs = Object.entries(services[name]?.environment ?? {})
  expect(inFiles(ours, '%d/')).toEqual(inFiles(theirs, '/run/secrets/'))
})

test('every process is started again when it asks for it, and has time to stop', () => {
  for (const file of globSync('deploy/systemd/*.service')) {
    const unit = readUnit(basename(file), 'api')
    expect(allOf(unit, 'Restart')).toEqual(['always'])
    expect(Number(allOf(unit, 'TimeoutStopSec')[0])).toBeGreaterThan(10)
    expect(allOf(unit, 'NoNewPrivileges')).toEqual(['yes'])
    expect(allOf(unit, 'ProtectSystem')).toEqual(['strict'])
    expect(allOf(unit, 'CapabilityBoundingSet')).toEqual([''])
  }
})
