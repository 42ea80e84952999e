/** The page about one reading: says how it stands, and checks its bundle in the reader's browser. */
import { readFileSync } from 'node:fs'
import { quantities } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import { measurementsOf } from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { proofPath } from '../../core/proof/proof-path.ts'
import type { Verdict } from '../../operate/proofs/prove-reading.ts'
import type { Answer, Route } from '../http/answer.ts'
import type { NetworkDocument } from './network.ts'

/**
 * Nothing but our own three files. The script asks no other server, except the node that the reader
 * names: any on https, or one on the reader's own machine.
 */
const nodes = 'https: http://127.0.0.1:* http://localhost:*'
const contentSecurityPolicy = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ${nodes}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const headers = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** The verifier as it was built, the page's script and its looks, at addresses that stay. */
export const proofFiles = (): readonly Route[] => [
  file('airproof-verify.js', '../../anchor/verifier/airproof-verify.js', 'text/javascript'),
  file('page.js', './page/page.js', 'text/javascript'),
  file('page.css', './page/page.css', 'text/css'),
]

function file(name: string, from: string, type: string): Route {
  const answer: Answer = {
    type: `${type}; charset=utf-8`,
    isKept: true,
    body: readFileSync(new URL(from, import.meta.url)),
    headers: { 'x-content-type-options': 'nosniff' },
  }
  return {
    path: `/proof/${name}`,
    isPart: name.startsWith('page.'),
    params: [],
    types: [type],
    isOpen: true,
    answer: () => answer,
  }
}

type Shown = {
  readonly reading: Reading
  readonly verdict: Verdict
  /** This page's own address, whole: the one to hand on. */
  readonly link: string
  readonly network: Pick<
    NetworkDocument,
    'name' | 'chain' | 'contracts' | 'attribution' | 'licence' | 'archive'
  >
}

export const proofPageAnswer = (shown: Shown): Answer => ({
  type: 'text/html; charset=utf-8',
  body: Buffer.from(page(shown)),
  headers,
})

const text = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** The server's own word, before the reader's browser has checked anything. */
const inWords: Readonly<Record<Verdict['status'], string>> = {
  pending: 'Waiting to be anchored, in batches every few minutes. Come back later.',
  anchoring: 'In a batch that is on its way to the blockchain, or not looked at lately.',
  verified: 'In a block, says this server. Your browser now checks the proof by itself.',
  mismatch:
    'Altered after it was anchored: the stored values were changed, or the proof was damaged.',
}

const demonstration = (chainId: number): string => `
<p id="demonstration">Local test chain (${chainId}), not public: proofs here are for demonstration only.</p>`

/** What a reader compares with what is known of the network from elsewhere. */
const networkRows = ({ name, chain, contracts }: Shown['network']): string =>
  [
    row('network', name),
    row('chain', chain === null ? 'none yet' : `${chain.name} (${chain.id})`),
    ...contracts.map(({ address, block }) => row('contract', `${address}, from block ${block}`)),
  ].join('')

function page({ reading, verdict, link, network }: Shown): string {
  const { chain } = network
  const time = formatIsoMs(reading.timeMs)
  const bundle = `${proofPath(reading)}.airproof.json`
  const measured = measurementsOf(reading.values)
  const rows = quantities.flatMap(({ name, unit }) => {
    const value = measured[name]
    if (value === undefined) return []
    return row(name, value === null ? 'not measured' : `${value} ${unit}`)
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Proof: ${text(reading.sensor)}, ${time}</title>
<link rel="stylesheet" href="/proof/page.css">
<script type="module" src="/proof/page.js"></script>
<main data-bundle="${'proof' in verdict ? text(bundle) : ''}">
<h1>${text(reading.sensor)}</h1>
<p><time datetime="${time}">${time}</time></p>
<p id="status" data-status="${verdict.status}">${inWords[verdict.status]}</p>${chain?.demonstration === true ? demonstration(chain.id) : ''}
<table>${rows.join('')}${row('air quality index', reading.aqi === null ? 'none' : String(reading.aqi))}
${row('hash', verdict.hash)}</table>
${verdict.status === 'mismatch' ? '' : `${linkTo(`${proofPath(reading)}?hash=${verdict.hash}`, link)}${citation({ reading, verdict, link, network })}`}<h2>Check it yourself</h2>
<p>This page runs <a href="/proof/airproof-verify.js">a verifier</a> that asks no server, ours included. Keep
<a href="${text(bundle)}">the proof as a file</a>: it stays valid without us, and you can drop it here, or any other.</p>
<p><label>Hash of the block, from a source you trust (optional)
<input id="block" size="66" spellcheck="false" autocomplete="off"></label></p>
<p><label>Address of a node of the chain, to ask whether the block is final (optional; it asks no other server)
<input id="node" size="66" spellcheck="false" autocomplete="off" placeholder="https://…"></label></p>
<p id="drop"><label>Drop a .airproof.json file here, or choose one <input id="file" type="file" accept=".json"></label></p>
<h2 id="verdict" role="status"></h2>
<p id="unreached" role="status"></p>
<ol id="checks"></ol>
<div id="trusts"></div>
<h2>Which network this is</h2>
<p>By the operator's own word: compare it with what you know from elsewhere. As <a href="/v1/network">a file</a> it is what
<code>--network</code> of the verifier takes.</p>
<table>${networkRows(network)}</table>
<noscript>Without scripts: keep the file and run <code>node airproof-verify.js FILE</code>.</noscript>
</main>
</html>
`
}

/** @param url the same as a whole address; what people copy must hold on any host */
const linkTo = (path: string, url: string): string =>
  `<p>Link to this proof: <a id="link" href="${text(path)}">${text(url)}</a>
<button id="copy" type="button">Copy the link</button></p>
`

/** Its hash is the reading's leaf, which the proof below leads from to the chain. */
const citation = ({ reading, verdict, link, network }: Shown): string =>
  `<p>To cite it: <cite id="citation">${text(network.attribution)}. Reading of sensor ${text(reading.sensor)}, network ${text(network.name)}, ${formatIsoMs(reading.timeMs)}. Hash ${verdict.hash}.${network.licence === null ? '' : ` Licence ${text(network.licence)}.`} ${text(link)}</cite>${citePeriod(network.archive, link)}</p>
`

/** Where the archive is ours: an archive elsewhere is plain files. */
const citePeriod = (archive: string | null, link: string): string =>
  archive !== null && new URL(archive).origin === new URL(link).origin
    ? ' <a href="/archive/cite">Cite a period</a>'
    : ''

const row = (name: string, value: string): string =>
  `<tr><th>${text(name)}</th><td>${text(value)}</td></tr>`
