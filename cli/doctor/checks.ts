/** Every check of `airproof doctor`, in the order in which they are shown. */
import { archiveCheck } from './archive-check.ts'
import { chainCheck } from './chain-check.ts'
import type { Check } from './check.ts'
import { diskCheck, filesCheck, folderCheck, portsCheck, versionCheck } from './machine-checks.ts'
import { mailCheck } from './mail-check.ts'
import { messagesCheck } from './messages-check.ts'
import { clockCheck, natsCheck, streamsCheck, syncCheck } from './nats-checks.ts'
import { levelCheck, processesCheck } from './process-checks.ts'
import { rotationCheck } from './rotation-check.ts'
import { settingsCheck } from './settings-check.ts'
import { storeCheck } from './store-check.ts'
import { tlsCheck } from './tls-check.ts'

export const checks: readonly Check[] = [
  settingsCheck,
  versionCheck,
  folderCheck,
  diskCheck,
  filesCheck,
  rotationCheck,
  portsCheck,
  tlsCheck,
  natsCheck,
  clockCheck,
  syncCheck,
  streamsCheck,
  levelCheck,
  processesCheck,
  storeCheck,
  chainCheck,
  mailCheck,
  messagesCheck,
  archiveCheck,
]
