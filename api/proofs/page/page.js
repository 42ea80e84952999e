// Runs in the reader's browser. The check itself is airproof-verify.js; this only shows it.
import { verifyFile } from './airproof-verify.js'

const find = (id) => document.getElementById(id)
const lines = (tag, texts) =>
  texts.map((text) => {
    const element = document.createElement(tag)
    element.textContent = text
    return element
  })

/** The bytes that are on show, so that another block hash can be tried on them. */
let shown

async function show(bytes, from) {
  shown = { bytes, from }
  const trusted = find('block').value.trim()
  const result = await verifyFile(bytes, trusted === '' ? {} : { trustedBlockHash: trusted })
  const { ok, checks, notAsked, demonstration, trusts, reading, block } = result
  find('verdict').textContent = ok
    ? `${demonstration ? 'Proven on a demonstration chain' : 'Proven'} (${from}): ${reading.sensor_id}, ${reading.timestamp}, in block ${block.number} of ${block.time}`
    : `Refused (${from})`
  find('verdict').dataset.ok = String(ok)
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
find('block').addEventListener('change', () => {
  if (shown) void show(shown.bytes, shown.from)
})
const drop = find('drop')
for (const name of ['dragover', 'dragleave', 'drop'])
  document.addEventListener(name, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', name === 'dragover')
    if (name === 'drop' && event.dataTransfer.files[0]) void open(event.dataTransfer.files[0])
  })

const { bundle } = document.querySelector('main').dataset
if (bundle !== '') {
  const answer = await fetch(bundle + location.search)
  if (answer.ok) await show(new Uint8Array(await answer.arrayBuffer()), 'this reading')
  else {
    const { error } = await answer.json()
    find('verdict').textContent = error.message
    find('verdict').dataset.ok = 'false'
  }
}
