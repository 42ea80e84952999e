/** The requests shown as examples, ready to run. */
import type { Language } from '../../parts/snippet.ts'

export const calls = ['sensors', 'latest', 'readings', 'statistics', 'area', 'stream'] as const
export type Call = (typeof calls)[number]

/** What the examples are about: a sensor and an area that this network has. */
export type About = { readonly sensor: string; readonly area: string }

/** The path of an example, below the API's address. */
export function pathOf(call: Call, { sensor, area }: About): string {
  const id = encodeURIComponent(sensor)
  switch (call) {
    case 'sensors':
      return '/v1/sensors?limit=5'
    case 'latest':
      return '/v1/sensors?include=latest&limit=5'
    case 'readings':
      return `/v1/readings?sensor_id=${id}&limit=10`
    case 'statistics':
      return `/v1/sensors/${id}/statistics?interval=day`
    case 'area':
      return `/v1/areas/${encodeURIComponent(area)}`
    case 'stream':
      return '/v1/stream'
  }
}

/** A stream does not end, so its programs read it line by line. */
export function streamSnippet(language: Language, url: string, key: string): string {
  switch (language) {
    case 'curl':
      return `curl -sN -H 'Authorization: Bearer ${key}' \\\n  '${url}'`
    case 'TypeScript':
      return `const answer = await fetch('${url}', {
  headers: { authorization: 'Bearer ${key}' },
})
if (!answer.ok || answer.body === null) throw new Error(await answer.text())
for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
  console.log(text)
}`
    case 'Python':
      return `import urllib.request

request = urllib.request.Request(
    '${url}',
    headers={'Authorization': 'Bearer ${key}'})
with urllib.request.urlopen(request) as answer:
    for line in answer:
        print(line.decode().rstrip())`
  }
}
