/** The properties of every page: the values of its address. */
export type PageProps = {
  readonly params: Readonly<Record<string, string>>
}
