import { type ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Layout } from './layout.tsx'
import { me } from './me.ts'
import type { PageProps } from './page.ts'
import { Failed, Loading } from './parts/states.tsx'
import { place } from './router.ts'
import { type Route, routeAt } from './routes.ts'

/** The page at the address on show, inside the layout. */
export function App() {
  const { path, search } = place.value
  const match = routeAt(path)
  useHeading(path, match?.route.title ?? 'Not found')
  return (
    <Layout>
      {match === undefined ? (
        <NotFound />
      ) : (
        <Guarded route={match.route}>
          {(Page) => <Page key={path} params={match.params} query={new URLSearchParams(search)} />}
        </Guarded>
      )}
    </Layout>
  )
}

/** Names the window, and lets a screen reader begin at the new page's heading. */
function useHeading(path: string, title: string): void {
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${title} · airproof`
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    document.getElementById('page')?.focus({ preventScroll: true })
  }, [path, title])
}

type GuardedProps = {
  readonly route: Route
  readonly children: (page: ComponentType<PageProps>) => preact.JSX.Element
}

function Guarded({ route, children }: GuardedProps) {
  const page = usePage(route)
  if (route.needs !== 'none') {
    if (me.value === undefined) return <Loading />
    if (me.value === null) return <SignInFirst title={route.title} />
    if (route.needs === 'operator' && me.value.account.role !== 'operator') return <NotForYou />
  }
  if (page === undefined) return <Loading />
  if (page instanceof Error) {
    return (
      <Failed error={new Error('This page could not be loaded.')} retry={() => location.reload()} />
    )
  }
  return children(page.component)
}

type Loaded = { readonly route: Route; readonly component: ComponentType<PageProps> }

function usePage(route: Route): Loaded | Error | undefined {
  const [loaded, setLoaded] = useState<Loaded | Error>()
  useEffect(() => {
    let isWanted = true
    route.load().then(
      (component) => isWanted && setLoaded({ route, component }),
      (error: unknown) => isWanted && setLoaded(new Error('not loaded', { cause: error })),
    )
    return () => {
      isWanted = false
    }
  }, [route])
  return loaded instanceof Error || loaded?.route === route ? loaded : undefined
}

const SignInFirst = ({ title }: { readonly title: string }) => (
  <div class="card stack">
    <h1>{title}</h1>
    <p>This page belongs to an account.</p>
    <div class="actions">
      <a class="button primary" href={`/login?next=${encodeURIComponent(location.pathname)}`}>
        Sign in
      </a>
      <a class="button" href="/signup">
        Sign up
      </a>
    </div>
  </div>
)

const NotForYou = () => (
  <div class="card">
    <h1>For operators</h1>
    <p>
      This account is not an operator’s. The network’s operator can change that with{' '}
      <code>airproof accounts role</code>.
    </p>
  </div>
)

const NotFound = () => (
  <div class="card">
    <h1>There is no such page</h1>
    <p>
      <a href="/">Back to the city</a>
    </p>
  </div>
)
