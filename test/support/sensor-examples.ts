/** The example sensors as processes, each if the machine has what it needs or can fetch it. */
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onPath } from '../../runtime/engines/tools.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { environment } from '../../runtime/process/config.ts'
import { debianProgram } from './debian-program.ts'
import { pythonPackage } from './python-package.ts'

const env = environment()
const folder = fileURLToPath(new URL('../../examples/sensors/', import.meta.url))

export type ExampleSensor = Pick<Child, 'exited' | 'isAlive'> &
  AsyncDisposable & { readonly printed: readonly string[] }

type Ready = {
  readonly command: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
}
type Availability = Ready | { readonly missing: string }

const shell = (script: string): Ready => ({
  command: [onPath('sh', env) ?? 'sh', `${folder}mosquitto/${script}`],
})

const mosquittoClients = await debianProgram(
  { names: ['mosquitto_pub'], debianPackage: 'mosquitto-clients' },
  env,
)
const mosquitto = (script: string): Availability =>
  'missing' in mosquittoClients ? mosquittoClients : shell(script)

/** @param words what Python runs @param more folders to import from */
async function python(
  needed: Parameters<typeof pythonPackage>[0],
  words: readonly string[],
  ...more: readonly string[]
): Promise<Availability> {
  const available = await pythonPackage(needed, env)
  if ('missing' in available) return available
  return {
    command: [onPath('python3', env) ?? 'python', '-u', ...words],
    env: {
      PYTHONPATH: [available.folder, ...more].join(delimiter),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  }
}

/** On a board the settings are at the top of the file. */
const withSettings = `import os, signed
signed.SENSOR, signed.KEY = os.environ["SENSOR_ID"], os.environ["SENSOR_KEY"]
signed.PUSH_URL = os.environ["PUSH_URL"] + "/push/readings"
signed.KEY_FILE = os.environ["KEY_FILE"]
signed.main()`

const node = (file: string): Ready => ({ command: [process.execPath, `${folder}node/${file}`] })

export const examples = {
  'mosquitto/publish.sh': mosquitto('publish.sh'),
  'mosquitto/receipt.sh': mosquitto('receipt.sh'),
  'python/sensor.py': await python({ name: 'paho-mqtt', version: '2.1.0' }, [
    `${folder}python/sensor.py`,
  ]),
  'python/signed.py': await python({ name: 'cryptography', version: '46.0.3', withNeeded: true }, [
    `${folder}python/signed.py`,
  ]),
  // on CPython; micropython-signatures.test.ts also runs what it signs on MicroPython
  'micropython/signed.py': await python(
    { name: 'requests', version: '2.34.2', withNeeded: true },
    ['-c', withSettings],
    `${folder}micropython`,
  ),
  'node/sensor-mqtt.mjs': node('sensor-mqtt.mjs'),
  'node/sensor-nats.mjs': node('sensor-nats.mjs'),
} as const satisfies Readonly<Record<string, Availability>>
export type Example = keyof typeof examples

/** Why it cannot run here; undefined if it can. */
export const missing = (example: Example): string | undefined => {
  const available: Availability = examples[example]
  return 'missing' in available ? available.missing : undefined
}

export async function startExample(
  example: Example,
  settings: Readonly<Record<string, string>>,
  words: readonly string[] = [],
): Promise<ExampleSensor> {
  const available: Availability = examples[example]
  if ('missing' in available) throw new Error(available.missing)
  const [command, ...args] = available.command
  const printed: string[] = []
  const child = await startChild({
    command,
    args: [...args, ...words],
    cwd: folder,
    env: { ...env, ...available.env, ...settings },
    onLine: (line) => void printed.push(line),
  })
  return {
    printed,
    exited: child.exited,
    isAlive: child.isAlive,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
