/** The source's own words, of which only text and https links are kept. */
export function safeAttribution(html: string): string {
  const given = new DOMParser().parseFromString(html, 'text/html').body
  const out = document.createElement('span')
  const copy = (node: Node): void => {
    if (node instanceof HTMLAnchorElement && node.protocol === 'https:') {
      const link = document.createElement('a')
      link.href = node.href
      link.rel = 'noopener'
      link.textContent = node.textContent
      out.append(link)
    } else if (node.nodeType === Node.TEXT_NODE) out.append(node.textContent ?? '')
    else if (!(node instanceof HTMLScriptElement)) node.childNodes.forEach(copy)
  }
  given.childNodes.forEach(copy)
  return out.innerHTML
}
