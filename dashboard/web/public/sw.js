/*
 * What was last seen, for when there is no network: pages and open data, never what belongs to an
 * account. With a network nothing is served from here but files whose name is their content's hash.
 */
const files = 'airproof-files-1'
const seen = 'airproof-seen-1'
const mostFiles = 100
const mostSeen = 150
const largestBytes = 2_000_000
const keptHeader = 'airproof-kept'

const first = [
  '/',
  '/proof',
  '/base.css',
  '/icon.svg',
  '/airproof-verify.js',
  '/config.json',
  '/.well-known/airproof.json',
]
const isFile = (path) => path.startsWith('/assets/')
const isPage = (path) => /^\/(?:$|areas\/|sensors\/[^/]+$|proof(?:\/|$))/.test(path)
const isData = (path) =>
  /^\/(?:data\/v1\/(?:sensors|areas|readings|statistics|aqi)(?:\/|$)|now(?:\/|$)|map\/|tiles\/)/.test(
    path,
  )
const isOther = (path) =>
  /^\/(?:base\.css|[\w-]+\.(?:svg|png|webmanifest)|airproof-verify\.js|config\.json|\.well-known\/airproof\.json)$/.test(
    path,
  )
const isKept = (path) => isPage(path) || isData(path) || isOther(path)

addEventListener('install', (event) => {
  event.waitUntil(Promise.allSettled(first.map((path) => fetchAndKeep(new Request(path)))))
  skipWaiting()
})

addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      const names = await caches.keys()
      const former = names.filter((name) => name !== files && name !== seen)
      await Promise.all(former.map((name) => caches.delete(name)))
      await clients.claim()
    })(),
  )
})

/** What the page had loaded before this ran. */
addEventListener('message', (event) => {
  const paths = Array.isArray(event.data?.keep) ? event.data.keep : []
  event.waitUntil(
    Promise.allSettled(
      paths.map(async (path) => {
        const url = new URL(path, location.origin)
        if (url.origin !== location.origin) return
        if (!isFile(url.pathname) && !isKept(url.pathname)) return
        const cache = await caches.open(isFile(url.pathname) ? files : seen)
        if ((await cache.match(url)) === undefined) await fetchAndKeep(new Request(url))
      }),
    ),
  )
})

addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (isFile(pathname)) event.respondWith(fromFiles(request))
  else if (request.mode === 'navigate' ? isPage(pathname) : isKept(pathname))
    event.respondWith(fromNetwork(event))
})

async function fromFiles(request) {
  const cache = await caches.open(files)
  return (await cache.match(request)) ?? (await fetchAndKeep(request))
}

async function fromNetwork(event) {
  const { request } = event
  try {
    const answer = await fetch(request)
    event.waitUntil(keep(request, answer.clone()).catch(() => undefined))
    void tell(null)
    return answer
  } catch (error) {
    const answer = await lastSeen(request)
    if (answer === undefined) throw error
    void tell(answer.headers.get(keptHeader))
    return answer
  }
}

async function lastSeen(request) {
  const cache = await caches.open(seen)
  const exact = await cache.match(request)
  if (exact !== undefined) return exact
  const { pathname } = new URL(request.url)
  if (request.mode !== 'navigate') return undefined
  // the same page with other choices, else any page of ours: it says what it cannot load
  return (
    (await cache.match(request, { ignoreSearch: true })) ??
    (await cache.match(pathname.startsWith('/proof') ? '/proof' : '/'))
  )
}

async function fetchAndKeep(request) {
  const answer = await fetch(request)
  await keep(request, answer.clone())
  return answer
}

async function keep(request, answer) {
  if (answer.status !== 200 || Number(answer.headers.get('content-length')) > largestBytes) return
  const { pathname } = new URL(request.url)
  const [name, most] = isFile(pathname) ? [files, mostFiles] : [seen, mostSeen]
  const headers = new Headers(answer.headers)
  headers.set(keptHeader, new Date().toISOString())
  // the body is plain here, whatever it was on the way
  for (const header of ['content-encoding', 'content-length']) headers.delete(header)
  const cache = await caches.open(name)
  await cache.delete(request, { ignoreVary: true })
  await cache.put(request, new Response(await answer.arrayBuffer(), { headers }))
  const requests = await cache.keys()
  for (const oldest of requests.slice(0, Math.max(0, requests.length - most)))
    await cache.delete(oldest)
}

/** Whether what was given last is of now (null), else of when it is. */
let told = null
async function tell(at) {
  if (at === told) return
  told = at
  for (const client of await clients.matchAll()) client.postMessage({ kept: at })
}
