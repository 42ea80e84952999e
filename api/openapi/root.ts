import { type Answer, jsonAnswer, jsonType, type Route } from '../http/answer.ts'

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>airproof</title>
<p>This is the API: <a href="/v1/docs">how to call it</a>, <a href="/v1/openapi.json">for programs</a>.</p>
</html>
`

/** GET /: where to go from here. */
export function rootPointer(): Route {
  const json = jsonAnswer({ status: 'success', docs: '/v1/docs', openapi: '/v1/openapi.json' })
  const html: Answer = {
    type: 'text/html; charset=utf-8',
    body: Buffer.from(page),
    headers: {
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    },
  }
  return {
    path: '/',
    params: [],
    types: [jsonType, 'text/html'],
    isOpen: true,
    answer: ({ type }) => (type === jsonType ? json : html),
  }
}
