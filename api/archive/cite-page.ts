import type { CitedFiles, Period } from './citation.ts'

const text = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

export type CitePage = {
  readonly name: string
  readonly period?: Period
  readonly cited?: CitedFiles & { readonly citation: string; readonly sumsLink: string }
}

/** Plain HTML: it works without scripts. */
export const citePage = ({ name, period, cited }: CitePage): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cite a period: ${text(name)}</title>
<link rel="stylesheet" href="/proof/page.css">
<main>
<h1>Cite readings of ${text(name)}</h1>
<form action="/archive/cite">
<p><label>From <input type="date" name="from" required value="${text(period?.from ?? '')}"></label>
<label>to <input type="date" name="to" required value="${text(period?.to ?? '')}"></label> (UTC days, both included)
<button>Cite</button></p>
</form>
${cited === undefined ? '' : found(cited)}</main>
</html>
`

const found = ({ citation, sumsLink, sha256, files, readings }: NonNullable<CitePage['cited']>) =>
  `<p><cite id="citation">${text(citation)}</cite></p>
<h2>What the hash is of</h2>
<p>Of <a href="${text(sumsLink)}">a list of ${files} files</a> with ${readings} readings, each with its own hash. The list stays as it is: readings that
come late are in later runs.</p>
<pre>curl -s '${text(sumsLink)}' | sha256sum   # ${sha256}
sha256sum -c                      # the list, in a copy of the archive
npx airproof verify FOLDER        # that the files are what was anchored</pre>
`
