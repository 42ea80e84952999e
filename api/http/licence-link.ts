/** The licence of the data in an answer, as a header (RFC 8288): a program that keeps the rows keeps it too. */

/** Addresses whose answers hold what was measured, or what is made of it. */
const ofData = /^\/(?:v1\/(?:sensors|readings|changes|areas|statistics|stream)|archive)(?:\/|$)/
const spdx = /^[A-Za-z0-9][A-Za-z0-9.+-]*$/

/** @param sensor whom the answer is about, if it is one; an id as it was given */
export type LicenceOf = (
  sensor: string | undefined,
) => { readonly licence: string; readonly of: 'network' | 'sensor' } | undefined

type Asked = {
  readonly path: string
  readonly sensor: string | undefined
}

export function licenceLink(
  { path, sensor }: Asked,
  licenceOf: LicenceOf,
): { readonly link?: string } {
  if (!ofData.test(path)) return {}
  const found = licenceOf(sensor)
  if (found === undefined) return {}
  const { licence, of } = found
  if (spdx.test(licence)) return { link: `<https://spdx.org/licenses/${licence}>; rel="license"` }
  // words have no address: they are where the answer says them
  const words = of === 'sensor' ? `/v1/sensors/${encodeURIComponent(sensor ?? '')}` : '/v1/network'
  return { link: `<${words}>; rel="license"` }
}
