/** What issue after issue was forgotten in silence, each place once, and every row of the tables. */
import type { Mutant, RowMutants } from '../mutant.ts'
import { archiveMutants } from './archive.ts'
import { correctionMutants } from './corrections.ts'
import { cursorMutants } from './cursor.ts'
import { deliveryMutants } from './deliveries.ts'
import { eventKindMutants } from './event-kinds.ts'
import { exportMutants } from './exports.ts'
import { formatMutants } from './formats.ts'
import { gatewayMutants } from './gateways.ts'
import { imageMutants } from './images.ts'
import { indexMutants } from './indices.ts'
import { proofVersionMutants } from './proof-versions.ts'
import { qualityMutants } from './quality.ts'
import { quantityMutants } from './quantities.ts'
import { signatureMutants } from './signatures.ts'
import { statisticsMutants } from './statistics.ts'

export const mutants: readonly (Mutant | RowMutants)[] = [
  ...indexMutants,
  ...proofVersionMutants,
  ...formatMutants,
  ...eventKindMutants,
  ...quantityMutants,
  ...signatureMutants,
  ...exportMutants,
  ...qualityMutants,
  ...statisticsMutants,
  ...cursorMutants,
  ...archiveMutants,
  ...correctionMutants,
  ...deliveryMutants,
  ...imageMutants,
  ...gatewayMutants,
]
