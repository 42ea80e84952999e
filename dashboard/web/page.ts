/** What every page is given: the values of its address. */
export type PageProps = {
  readonly params: Readonly<Record<string, string>>
  /** What follows the question mark. */
  readonly query: URLSearchParams
}
