// Runs in the reader's browser. The check itself is airproof-verify.js; this only shows it.
import { readNetwork, verifyFile } from './airproof-verify.js'

const find = (id) => document.getElementById(id)
const lines = (tag, texts) =>
  texts.map((text) => {
    const element = document.createElement(tag)
    element.textContent = text
    return element
  })

/** The bytes that are on show, so that another block hash or node can be tried on them. */
let shown

/** What the reader typed, without what was left empty. */
function wishes() {
  const typed = { trustedBlockHash: find('block').value.trim(), rpc: find('node').value.trim() }
  return Object.fromEntries(Object.entries(typed).filter(([, text]) => text !== ''))
}

/** The pin: without it a file of anyone's contract is as good as ours. undefined: it could not be had. */
const own = fetch('/v1/network')
  .then(async (answer) => readNetwork(await answer.text()))
  .catch(() => undefined)

const isOf = (network, { chainId, contract }) =>
  chainId === network.chainId && network.contracts.some(({ address }) => address === contract)

/** A proof of another network is called that; one that names our contract and is not within it is not valid. */
async function withPin(bytes, options) {
  const network = await own
  const result = await verifyFile(bytes, { ...options, network })
  if (result.ok) {
    const isConfirmed = options.trustedBlockHash !== undefined || options.rpc !== undefined
    return { result, kind: network !== undefined && isConfirmed ? 'matches' : 'consistent' }
  }
  const last = result.checks.at(-1)
  // of level rpc: without a node it is neither
  if (last?.name === 'node' && options.rpc === undefined) return { result, kind: 'open' }
  if (last?.name !== 'pins') return { result, kind: 'invalid' }
  const alone = await verifyFile(bytes)
  const isForeign = alone.ok && !isOf(network, alone.block)
  return isForeign ? { result: alone, kind: 'foreign' } : { result, kind: 'invalid' }
}

/** A node that gives no answer says nothing about the proof: what holds without it is shown, and that. */
async function verified(bytes) {
  const { rpc, ...options } = wishes()
  if (rpc === undefined) return { ...(await withPin(bytes, options)), unreached: '' }
  const asked = await withPin(bytes, { ...options, rpc })
  if (!asked.result.unreachable) return { ...asked, unreached: '' }
  const unreached = `The node ${rpc} cannot be reached, so nothing was asked of it. It may not answer to pages of other sites: then ask it with the verifier on your machine, --rpc.`
  return { ...(await withPin(bytes, options)), unreached }
}

const verdicts = {
  matches: 'Matches this network and a block you confirmed',
  consistent: 'Consistent – block not confirmed yet',
  foreign: 'Valid proof, but of another network',
  open: 'Not decided: name a node of the chain below',
  invalid: 'Not valid',
}

async function show(bytes, from) {
  shown = { bytes, from }
  const { result, kind, unreached } = await verified(bytes)
  // another file or node was chosen meanwhile
  if (shown.bytes !== bytes) return
  const { ok, checks, notAsked, demonstration, proves, trusts, reading, block } = result
  const test = demonstration ? ', on a local test chain' : ''
  find('verdict').textContent = ok
    ? `${verdicts[kind]}${test} (${from}): ${reading.sensor_id}, ${reading.timestamp}, in block ${block.number} of ${block.time}`
    : `${verdicts[kind]} (${from})`
  // no word of a chain that the operator writes is green
  find('verdict').dataset.verdict = kind === 'matches' && demonstration ? 'consistent' : kind
  find('unreached').textContent = unreached
  find('checks').replaceChildren(
    ...lines(
      'li',
      checks.map(({ name, ok: holds, why }) => `${holds ? '✓' : '✗'} ${name}: ${why}`),
    ),
    ...lines(
      'li',
      notAsked.map(({ name, why }) => `– ${name}, not asked: ${why}`),
    ),
  )
  const measured = ok
    ? Object.entries(reading).map(([name, value]) => `${name}: ${value ?? 'not measured'}`)
    : []
  find('trusts').replaceChildren(
    ...lines('h3', ok ? ['What is proven'] : []),
    ...lines('p', measured.length > 0 ? [measured.join(' · ')] : []),
    ...lines('p', proves),
    ...lines('h3', trusts.length > 0 ? ['What you still have to trust'] : []),
    ...lines('p', trusts),
  )
}

const open = async (file) => show(new Uint8Array(await file.arrayBuffer()), file.name)

find('file').addEventListener('change', ({ target }) => {
  if (target.files[0]) void open(target.files[0])
})
for (const id of ['block', 'node'])
  find(id).addEventListener('change', () => {
    if (shown) void show(shown.bytes, shown.from)
  })
const drop = find('drop')
for (const name of ['dragover', 'dragleave', 'drop'])
  document.addEventListener(name, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', name === 'dragover')
    if (name === 'drop' && event.dataTransfer.files[0]) void open(event.dataTransfer.files[0])
  })

async function copy() {
  try {
    await navigator.clipboard.writeText(find('link').textContent)
    find('copy').textContent = 'Copied'
  } catch {
    find('copy').textContent = 'Copy it by hand: the browser does not allow it'
  }
}
// a reading that is not what was anchored has no link to hand on
find('copy')?.addEventListener('click', () => void copy())

function failed(words) {
  find('verdict').textContent = words
  find('verdict').dataset.verdict = 'unknown'
}

const { bundle } = document.querySelector('main').dataset
if (bundle !== '') {
  const answer = await fetch(bundle + location.search).catch(() => undefined)
  if (answer === undefined)
    failed('The server cannot be reached, so its proof is not here. Drop the file if you kept it.')
  else if (answer.ok) await show(new Uint8Array(await answer.arrayBuffer()), 'this reading')
  else failed((await answer.json()).error.message)
}
