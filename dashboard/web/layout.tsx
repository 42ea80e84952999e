import type { ComponentChildren } from 'preact'
import { footerLinks, languageLink, type Reader, tabsFor } from '../frame.ts'
import { languageNames, languages } from '../texts/languages.ts'
import { config, me } from './me.ts'
import { keptAtMs } from './offline.ts'
import { networkZone } from './parts/time/time-zone.ts'
import { path, place } from './router.ts'
import { format, language, texts } from './texts.ts'

const { common } = texts
const settings = [
  ['/settings/keys', common.settingsTabs.keys],
  ['/settings/usage', common.settingsTabs.usage],
  ['/settings/webhooks', common.settingsTabs.webhooks],
  ['/settings/account', common.settingsTabs.account],
] as const

/** The bar, the tabs of the settings, the page between them, and the footer. */
export function Layout({ children }: { readonly children: ComponentChildren }) {
  const at = path.value
  return (
    <>
      <a class="skip" href="#page">
        {common.skip}
      </a>
      <header class="top">
        <a class="brand" href="/">
          <img src="/icon.svg" alt="" width="26" height="26" />
          airproof
        </a>
        <nav aria-label={common.tabs.label}>
          {tabsFor(reader(), at, common).map((tab) => (
            <Tab key={tab.href} {...tab} />
          ))}
        </nav>
        <Who />
      </header>
      <main id="page" tabIndex={-1} class={at === '/' ? 'wide' : ''}>
        {at.startsWith('/settings/') && (
          <nav class="tabs" aria-label={common.settingsTabs.label}>
            {settings.map(([href, text]) => (
              <Tab key={href} href={href} text={text} isHere={at.startsWith(href)} />
            ))}
          </nav>
        )}
        <KeptNotice />
        {children}
      </main>
      <Footer />
    </>
  )
}

function reader(): Reader {
  if (!me.value) return 'visitor'
  return me.value.account.role
}

type TabProps = { readonly href: string; readonly text: string; readonly isHere: boolean }

const Tab = ({ href, text, isHere }: TabProps) => (
  <a href={href} aria-current={isHere ? 'page' : undefined}>
    {text}
  </a>
)

function Who() {
  if (me.value === undefined) return <div class="who" />
  if (me.value === null) {
    return (
      <div class="who">
        <a class="button quiet" href="/login">
          {common.signIn}
        </a>
        <a class="button primary" href="/signup">
          {common.signUp}
        </a>
      </div>
    )
  }
  return (
    <div class="who">
      <span class="muted">{me.value.account.name}</span>
      <form method="post" action="/logout">
        <input type="hidden" name="csrf" value={me.value.csrf} />
        <button type="submit">{common.signOut}</button>
      </form>
    </div>
  )
}

function Footer() {
  const { path: at, search } = place.value
  return (
    <footer class="foot">
      <nav aria-label={common.footer.label}>
        {footerLinks(config.value, at, common).map((link) => (
          <Tab key={link.href} {...link} />
        ))}
      </nav>
      <nav aria-label={common.footer.language}>
        {languages.map((name) => (
          <a
            key={name}
            href={languageLink(name, at + search)}
            hreflang={name}
            lang={name}
            aria-current={name === language ? 'true' : undefined}
          >
            {languageNames[name]}
          </a>
        ))}
      </nav>
    </footer>
  )
}

/** Above every page while it shows what was last seen. */
function KeptNotice() {
  const ms = keptAtMs.value
  if (ms === null) return null
  const time = format.date(ms, { dateStyle: 'medium', timeStyle: 'short' }, networkZone.value)
  return (
    <p class="notice warn" role="status">
      {texts.city.kept(time)}
    </p>
  )
}
