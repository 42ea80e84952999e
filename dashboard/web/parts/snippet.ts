export const languages = ['curl', 'TypeScript', 'Python'] as const
export type Language = (typeof languages)[number]

/** A program that requests `url` with a key, ready to run. */
export function snippet(language: Language, url: string, key: string): string {
  switch (language) {
    case 'curl':
      return `curl -H 'Authorization: Bearer ${key}' \\\n  '${url}'`
    case 'TypeScript':
      return `const answer = await fetch('${url}', {
  headers: { authorization: 'Bearer ${key}' },
})
if (!answer.ok) throw new Error(await answer.text())
console.log(await answer.json())`
    case 'Python':
      return `import json, urllib.request

request = urllib.request.Request(
    '${url}',
    headers={'Authorization': 'Bearer ${key}'})
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))`
  }
}
