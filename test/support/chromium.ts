/** A real Chromium, without a window and without a word to anybody but us. */
import { type Browser, chromium } from 'playwright-core'
import { environment } from '../../runtime/process/config.ts'
import { debianProgram } from './debian-program.ts'

const found = await debianProgram(
  { names: ['chromium', 'chromium-browser', 'google-chrome'], debianPackage: 'chromium' },
  environment(),
)

/** Why no page can be tried here, for the name of a skipped test; undefined where one can. */
export const chromiumMissing = 'missing' in found ? found.missing : undefined

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

export async function openChromium(): Promise<Browser> {
  if ('missing' in found) throw new Error(found.missing)
  return await chromium.launch({ executablePath: found.file, args: quiet })
}
