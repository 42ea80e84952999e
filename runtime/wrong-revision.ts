/** The server's "wrong last sequence", which is how KV says that somebody else was there first. */
export const isWrongRevision = (error: unknown): boolean =>
  error instanceof Error && /wrong last sequence/i.test(error.message)
