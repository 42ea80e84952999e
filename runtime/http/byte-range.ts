/** Ranges of bytes (RFC 9110, 14): one range; of anything else the whole file is sent, as it allows. */
export type ByteRange = { readonly start: number; readonly end: number }

/**
 * @param size of the file
 * @returns inclusive ends; 'whole': none was asked for; 'outside': it begins after the end
 */
export function byteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'whole' | 'outside' {
  const [, first = '', last = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Number(last)
    return length === 0 || size === 0
      ? 'outside'
      : { start: Math.max(0, size - length), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  // not a range, so as if it were not there
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= size ? 'outside' : { start, end }
}
