import type { ComponentChildren } from 'preact'
import { me } from './me.ts'
import { place } from './router.ts'

const settings = [
  ['/settings/keys', 'API keys'],
  ['/settings/usage', 'Usage'],
  ['/settings/webhooks', 'Webhooks'],
  ['/settings/account', 'Account'],
] as const

/** The bar, the tabs of the settings, and the page between them. */
export function Layout({ children }: { readonly children: ComponentChildren }) {
  const { path } = place.value
  return (
    <>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href="/">
          <img src="/icon.svg" alt="" width="26" height="26" />
          airproof
        </a>
        <nav aria-label="Pages">
          <Tab href="/" label="City" isHere={path === '/' || path.startsWith('/sensors/')} />
          <Tab href="/proof" label="Proof" isHere={path.startsWith('/proof')} />
          {me.value && (
            <Tab href="/settings/keys" label="Settings" isHere={path.startsWith('/settings/')} />
          )}
          {me.value?.account.role === 'operator' && (
            <Tab href="/operator" label="Operator" isHere={path.startsWith('/operator')} />
          )}
        </nav>
        <Who />
      </header>
      <main id="page" tabIndex={-1} class={path === '/' ? 'wide' : ''}>
        {path.startsWith('/settings/') && (
          <nav class="tabs" aria-label="Settings">
            {settings.map(([href, label]) => (
              <Tab key={href} href={href} label={label} isHere={path.startsWith(href)} />
            ))}
          </nav>
        )}
        {children}
      </main>
    </>
  )
}

type TabProps = { readonly href: string; readonly label: string; readonly isHere: boolean }

const Tab = ({ href, label, isHere }: TabProps) => (
  <a href={href} aria-current={isHere ? 'page' : undefined}>
    {label}
  </a>
)

function Who() {
  if (me.value === undefined) return <div class="who" />
  if (me.value === null) {
    return (
      <div class="who">
        <a class="button quiet" href="/login">
          Sign in
        </a>
        <a class="button primary" href="/signup">
          Sign up
        </a>
      </div>
    )
  }
  return (
    <div class="who">
      <span class="muted">{me.value.account.name}</span>
      <form method="post" action="/logout">
        <input type="hidden" name="csrf" value={me.value.csrf} />
        <button type="submit">Sign out</button>
      </form>
    </div>
  )
}
