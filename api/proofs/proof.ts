/** Proof bundles over HTTP: with a key below /v1, and by a link that needs none. */

import type { Reading } from '../../core/air/reading.ts'
import { isHash } from '../../core/hex.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { proofUrl } from '../../core/proof/proof-path.ts'
import type { MakeBundle } from '../../operate/proofs/make-bundle.ts'
import type { Verdict } from '../../operate/proofs/prove-reading.ts'
import { type Answer, jsonType, type Request, type Route } from '../http/answer.ts'
import { ApiError, badParameter } from '../http/api-error.ts'
import type { NetworkDocument } from './network.ts'
import { proofPageAnswer } from './proof-page.ts'
import {
  type ExpectedBy,
  needTime,
  orUnavailable,
  type ProofSources,
  provenReading,
  type WantedReading,
} from './proven-reading.ts'

type Options = ProofSources & {
  readonly makeBundle: MakeBundle
  readonly expectedBy: ExpectedBy
  readonly publicUrl: string
  readonly networkNow: () => Promise<NetworkDocument>
  /** @throws ApiError 429 */
  readonly bound: (network: string) => void
}

const htmlType = 'text/html'
const ending = '.airproof.json'

/** GET /v1/readings/{sensor_id}/proof?timestamp= */
export const proofOfReading = (options: Options): Route => ({
  path: '/v1/readings/:sensor_id/proof',
  params: ['timestamp', 'hash'],
  types: [jsonType],
  answer: async ({ names, params, asker }) => {
    const wanted = { asker, name: names['sensor_id'] ?? '', timeMs: needTime(params) }
    return bundleAnswer(await bundleOf(wanted, params, options))
  },
})

/**
 * GET /proof/{sensor_id}/{timestamp}: the bundle, or for people a page that checks it. The same
 * with .airproof.json at its end is the file to keep.
 */
export const openProof = (options: Options): Route => ({
  path: '/proof/:sensor_id/:timestamp',
  params: ['hash'],
  types: [jsonType, htmlType],
  isOpen: true,
  answer: async ({ names, params, type, network, asker }) => {
    options.bound(network())
    const { sensor_id: name = '', timestamp = '' } = names
    const isFile = timestamp.endsWith(ending)
    const timeMs = needTime(
      new Map([['timestamp', isFile ? timestamp.slice(0, -ending.length) : timestamp]]),
    )
    if (type === htmlType && !isFile) {
      const { reading, verdict } = await provenReading(options, { asker, name, timeMs })
      const whole = await options.networkNow()
      const about = options.board.get(reading.sensor)?.sensor.about
      return proofPageAnswer({
        reading,
        verdict,
        link: proofUrl(options.publicUrl, reading, verdict.hash),
        network: {
          ...whole,
          attribution: about?.owner ?? whole.attribution,
          licence: about?.licence ?? whole.licence,
        },
      })
    }
    return bundleAnswer(await bundleOf({ asker, name, timeMs }, params, options), isFile)
  },
})

type Bundle = { readonly reading: Reading; readonly text: string }

async function bundleOf(
  wanted: WantedReading,
  params: Request['params'],
  options: Options,
): Promise<Bundle> {
  const pinned = params.get('hash')
  if (pinned !== undefined && !isHash(pinned))
    throw badParameter('hash', pinned, '0x and 64 lower-case hexadecimal digits')
  const { reading, verdict } = await provenReading(options, wanted)
  if (pinned !== undefined && pinned !== verdict.hash)
    throw new ApiError(409, 'other_hash', 'this reading does not have the hash that is asked for', {
      details: { hash: pinned, reading_hash: verdict.hash },
    })
  if (verdict.status === 'mismatch')
    throw new ApiError(409, 'mismatch', 'this reading is not what was anchored', {
      details: { reason: verdict.why, reading_hash: verdict.hash },
    })
  const text = await orUnavailable(
    options.makeBundle(reading, verdict, ({ sensor, timeMs }) =>
      options.queryStore(wanted.asker, (store, signal) =>
        store.within(signal).signature(sensor, timeMs),
      ),
    ),
  )
  if (text === undefined) throw notYet(verdict, options.expectedBy)
  return { reading, text }
}

const retryAfterSeconds = '30'

function notYet(verdict: Verdict, expectedBy: ExpectedBy): ApiError {
  return new ApiError(404, 'not_anchored_yet', 'this reading is not anchored for good yet', {
    details: { status: verdict.status, expected_by: formatIsoMs(expectedBy(verdict)) },
    headers: { 'retry-after': retryAfterSeconds },
  })
}

function bundleAnswer({ reading, text }: Bundle, isFile = false): Answer {
  const name = `${reading.sensor}_${formatIsoMs(reading.timeMs).replaceAll(':', '-')}${ending}`
  const headers = {
    'x-content-type-options': 'nosniff',
    ...(isFile ? { 'content-disposition': `attachment; filename="${name}"` } : {}),
  }
  return { type: jsonType, body: Buffer.from(text), headers }
}
