import type { CommonTexts } from './texts/en/common.ts'

const browsers = [
  [/\bEdg\w*\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const
const systems = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** A user agent, short: `Firefox on Windows`; as it is where nothing is known. */
export function browserWords(agent: string, { browser: words }: CommonTexts): string {
  const browser = browsers.find(([pattern]) => pattern.test(agent))?.[1]
  const system = systems.find(([pattern]) => pattern.test(agent))?.[1]
  if (browser === undefined) return agent === '' ? words.unnamed : agent
  return system === undefined ? browser : words.on(browser, system)
}
