/**
 * Everything that outlives the process that wrote it, with the newest version of its format that
 * this airproof reads. It reads every version since 0.1, by the version in the data:
 *
 * - JSON has it in the field `v`; without one it is version 1, which is what 0.1 wrote;
 * - messages that are bytes have it in the header `Air-Version`, in the same way;
 * - what is handed out has it in the name of its format, `airproof.proof.v1`.
 *
 * One that is newer than known is never passed over as broken: going on without it could lose what
 * it says. Its reader throws `NewerFormat`, which ends a process before it writes anything. A newer
 * version is written only from a format level on (`format-level.ts`), so it is met only by a version
 * that was started again after an upgrade, or on data of a later one.
 *
 * What sensors send (RAW, TOPICS) is not in the table: no device can end a process by it.
 */
export const formats = {
  readings: { newest: 3, is: 'a message of READINGS' },
  snapshot: { newest: 2, is: 'a snapshot of a partition' },
  event: { newest: 1, is: 'a message of EVENTS' },
  rejected: { newest: 1, is: 'a message of REJECTED' },
  ledger: { newest: 2, is: 'a message of the ledger' },
  manifest: { newest: 2, is: 'a snapshot of the ledger' },
  attempt: { newest: 1, is: 'a message of ATT' },
  audit: { newest: 1, is: 'a message of AUDIT' },
  requests: { newest: 1, is: 'a message of REQUESTS' },
  mail: { newest: 1, is: 'a mail that waits' },
  blob: { newest: 1, is: 'a message of BLOBS' },
  entry: { newest: 1, is: 'an entry' },
  sealed: { newest: 2, is: 'a sealed batch' },
  journal: { newest: 1, is: 'an entry of the journal of anchors' },
  proof: { newest: 2, is: 'a proof bundle' },
  export: { newest: 2, is: 'the manifest of an export' },
  backup: { newest: 1, is: 'a backup' },
  spool: { newest: 1, is: 'a line of readings that wait on disk' },
  ready: { newest: 1, is: 'ready.json' },
  access: { newest: 1, is: 'nats-access.json' },
  image: { newest: 1, is: 'the image of a bucket' },
} as const satisfies Readonly<Record<string, { readonly newest: number; readonly is: string }>>

export type Format = keyof typeof formats

/** A person must act: this version cannot read what a later one wrote. */
export class NewerFormat extends Error {
  override readonly name = 'NewerFormat'

  /** @param where for example `KV sensors, key NGR-LOS-IKJ-001` */
  constructor(format: Format, version: number, where?: string) {
    const { is, newest } = formats[format]
    super(
      `${is}${where === undefined ? '' : ` (${where})`} is of version ${version}, and this airproof reads it up to version ${newest}: use the airproof that wrote it, or a later one (docs/upgrading.md)`,
    )
  }
}

/** @throws NewerFormat */
export function assertKnown(format: Format, version: number, where?: string): void {
  if (Number.isSafeInteger(version) && version > formats[format].newest)
    throw new NewerFormat(format, version, where)
}

/**
 * A value of version 1 without its version, as 0.1 wrote it. Of a format whose newest version is 1 that
 * is the only one; a later one that is known keeps its version.
 * @throws NewerFormat
 */
export function asVersion1(format: Format, value: unknown, where?: string): unknown {
  if (typeof value !== 'object' || value === null || !('v' in value)) return value
  const { v, ...rest } = value
  if (typeof v === 'number') assertKnown(format, v, where)
  return v === 1 ? rest : value
}

/** Of a message that is bytes; absent: 1. */
export const versionHeader = 'Air-Version'

type Headers = { readonly get: (name: string) => string }

/** @throws NewerFormat */
export function assertKnownHeader(
  format: Format,
  headers: Headers | undefined,
  where?: string,
): void {
  assertKnown(format, Number(headers?.get(versionHeader) || 1), where)
}

/** Of a file that was handed out. @throws NewerFormat */
export function assertKnownFile(text: string): void {
  const [, name, version] =
    /^\s*\{\s*"format"\s*:\s*"airproof\.(proof|export)\.v(\d+)"/.exec(text) ?? []
  if (name === 'proof' || name === 'export') assertKnown(name, Number(version))
}
