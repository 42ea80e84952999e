/* Asks for this document again each minute, and puts its words in place; no cookie is sent or set. */
;(() => {
  const everyMs = 60_000
  const stale = document.getElementById('stale')
  const look = async () => {
    if (document.hidden) return
    try {
      const answer = await fetch(location.href, { credentials: 'omit', cache: 'no-cache' })
      if (!answer.ok) throw new Error(String(answer.status))
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const place = next.getElementById('place')
      const former = document.getElementById('place')
      if (place && former) former.replaceWith(document.adoptNode(place))
      stale.hidden = true
    } catch {
      // the numbers stay, with the time at which they were made, and it says that they are old
      stale.hidden = false
    }
  }
  setInterval(() => void look(), everyMs)
  document.addEventListener('visibilitychange', () => void look())
  addEventListener('online', () => void look())
})()
