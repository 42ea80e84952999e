/** A real Chromium, without a window and without requests to any other server. */
import { type Browser, chromium } from 'playwright-core'
import { environment } from '../../runtime/process/config.ts'
import { debianProgram } from './debian-program.ts'

// the shell draws no window of its own around a page, which takes a quarter of the CPU
const shell = await debianProgram(
  { names: ['chromium-headless-shell'], debianPackage: 'chromium-headless-shell' },
  environment(),
)
const program =
  'file' in shell
    ? shell
    : await debianProgram(
        { names: ['chromium', 'chromium-browser', 'google-chrome'], debianPackage: 'chromium' },
        environment(),
      )

/** Why pages cannot be tested here, for the name of a skipped test; undefined if they can. */
export const chromiumMissing = 'missing' in program ? program.missing : undefined

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** @param args more of them */
export async function openChromium(args: readonly string[] = []): Promise<Browser> {
  if ('missing' in program) throw new Error(program.missing)
  return await chromium.launch({ executablePath: program.file, args: [...quiet, ...args] })
}
