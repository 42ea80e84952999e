import { formatIsoMs } from '../iso-time.ts'

type Named = { readonly sensor: string; readonly timeMs: number }

/** The address of this reading's own proof page, below that of the API or of the dashboard. */
export const proofPath = ({ sensor, timeMs }: Named): string =>
  `/proof/${encodeURIComponent(sensor)}/${encodeURIComponent(formatIsoMs(timeMs))}`

/**
 * The one link to hand on: a whole address, which pins what the reading is.
 * @param publicUrl the address of the API, or of the dashboard
 */
export const proofUrl = (publicUrl: string, reading: Named, hash: string): string =>
  `${publicUrl.replace(/\/+$/, '')}${proofPath(reading)}?hash=${hash}`
