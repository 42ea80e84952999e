// Runs in the reader's browser. The check itself is airproof-verify.js; this only shows it.
import { verifyFile } from './airproof-verify.js'

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

/** A node that gives no answer says nothing about the proof: what holds without it is shown, and that. */
async function verified(bytes) {
  const { rpc, ...options } = wishes()
  if (rpc === undefined) return { result: await verifyFile(bytes, options), unreached: '' }
  const result = await verifyFile(bytes, { ...options, rpc })
  if (!result.unreachable) return { result, unreached: '' }
  const why = `The node ${rpc} cannot be reached, so nothing was asked of it. It may not answer to pages of other sites: then ask it with the verifier on your machine, --rpc.`
  return { result: await verifyFile(bytes, options), unreached: why }
}

async function show(bytes, from) {
  shown = { bytes, from }
  const { result, unreached } = await verified(bytes)
  // another file or node was chosen meanwhile
  if (shown.bytes !== bytes) return
  const { ok, checks, notAsked, demonstration, trusts, reading, block } = result
  find('verdict').textContent = ok
    ? `${demonstration ? 'Proven on a demonstration chain' : 'Proven'} (${from}): ${reading.sensor_id}, ${reading.timestamp}, in block ${block.number} of ${block.time}`
    : `Refused (${from})`
  find('verdict').dataset.ok = String(ok)
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
    ...lines('h3', ok ? ['What was proven'] : []),
    ...lines('p', measured.length > 0 ? [measured.join(' · ')] : []),
    ...lines('h3', trusts.length > 0 ? ['What is left to trust'] : []),
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
  find('verdict').dataset.ok = 'false'
}

const { bundle } = document.querySelector('main').dataset
if (bundle !== '') {
  const answer = await fetch(bundle + location.search).catch(() => undefined)
  if (answer === undefined)
    failed('The server cannot be reached, so its proof is not here. Drop the file if you kept it.')
  else if (answer.ok) await show(new Uint8Array(await answer.arrayBuffer()), 'this reading')
  else failed((await answer.json()).error.message)
}
