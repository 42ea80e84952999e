/** The section of the version in the changelog; of one that is not released yet, what is unreleased. */
export function notesOf(changelog: string, version: string): string {
  const title = version.includes('-') ? 'Unreleased' : version
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.split(/\s/, 1)[0] === title)
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${title}"`)
  return `# airproof ${version}\n${section.slice(section.indexOf('\n'))}`
}
