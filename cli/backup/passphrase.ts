import { MustAct } from '../../runtime/exit.ts'
import { readSettings, type SettingsSource } from '../../runtime/settings.ts'

/** @param why what it is needed for @throws MustAct there is none */
export function needPassphrase(source: SettingsSource, why: string): string {
  const passphrase = readSettings(source).secret('AIRPROOF_BACKUP_PASSPHRASE')
  if (passphrase !== undefined && passphrase.length >= leastCharacters) return passphrase
  throw new MustAct(
    `${why}: put a passphrase of at least ${leastCharacters} characters into a file (\`openssl rand -base64 24\`), and name it with AIRPROOF_BACKUP_PASSPHRASE_FILE`,
  )
}

const leastCharacters = 12
