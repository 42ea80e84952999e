/** JSON of the API, taken apart without trusting it. */
export type Json = { readonly [name: string]: unknown }

export type Ask = {
  readonly json: (path: string) => Promise<Json>
  readonly text: (path: string) => Promise<string>
}

export function askApi({ api, key }: { readonly api: string; readonly key: string }): Ask {
  const text = async (path: string): Promise<string> => {
    const response = await fetch(api + path, {
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
    })
    const body = await response.text()
    if (!response.ok) throw new Error(`${path} gives ${response.status}: ${body.slice(0, 500)}`)
    return body
  }
  return { text, json: async (path) => fieldsOf(JSON.parse(await text(path))) }
}

export const fieldsOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? { ...value } : {}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** `YYYY-MM-DDTHH:MM:SS.mmmZ` */
export const isoOf = (timeMs: number): string => new Date(timeMs).toISOString()
