import { type ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Layout } from './layout.tsx'
import { hasExpired, me } from './me.ts'
import type { PageProps } from './page.ts'
import { Expired } from './parts/expired.tsx'
import { Filled } from './parts/filled.tsx'
import { Loading, NotLoaded } from './parts/states.tsx'
import { named } from './parts/title.ts'
import { path } from './router.ts'
import { loadedPage, loadPage, type Route, routeAt } from './routes.ts'
import { texts } from './texts.ts'

const { common } = texts

/** The page at the address on show, inside the layout. */
export function App() {
  const at = path.value
  const match = routeAt(at)
  const own = named.value?.path === at ? named.value.title : undefined
  useHeading(at, own ?? match?.route.title ?? common.titles.notFound)
  return (
    <Layout>
      {match === undefined ? (
        <NotFound />
      ) : (
        <Guarded route={match.route}>{(Page) => <Page key={at} params={match.params} />}</Guarded>
      )}
      <Expired />
    </Layout>
  )
}

/** Names the window, and lets a screen reader begin at the new page's heading. */
function useHeading(path: string, title: string): void {
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${title} · airproof`
  }, [title])
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    document.getElementById('page')?.focus({ preventScroll: true })
  }, [path])
}

type GuardedProps = {
  readonly route: Route
  readonly children: (page: ComponentType<PageProps>) => preact.JSX.Element
}

function Guarded({ route, children }: GuardedProps) {
  const page = usePage(route)
  // a page whose session ended stays under the question until that is answered
  if (route.needs !== 'none' && !hasExpired.value) {
    if (me.value === undefined) return <Loading isTall />
    if (me.value === null) return <SignInFirst title={route.title} />
    if (route.needs === 'operator' && me.value.account.role !== 'operator') return <NotForYou />
  }
  if (page === undefined) return <Loading isTall />
  if (page instanceof Error) return <NotLoaded />
  return children(page)
}

function usePage(route: Route): ComponentType<PageProps> | Error | undefined {
  const [failed, setFailed] = useState<Error>()
  const [, setLoaded] = useState<Route>()
  const page = loadedPage(route)
  useEffect(() => {
    if (page !== undefined) return
    let isWanted = true
    loadPage(route).then(
      () => isWanted && setLoaded(route),
      (error: unknown) => isWanted && setFailed(new Error('not loaded', { cause: error })),
    )
    return () => {
      isWanted = false
    }
  }, [route])
  return page ?? failed
}

const SignInFirst = ({ title }: { readonly title: string }) => (
  <div class="card stack">
    <h1>{title}</h1>
    <p>{common.signInFirst}</p>
    <div class="actions">
      <a
        class="button primary"
        href={`/login?next=${encodeURIComponent(location.pathname + location.search)}`}
      >
        {common.signIn}
      </a>
      <a class="button" href="/signup">
        {common.signUp}
      </a>
    </div>
  </div>
)

const NotForYou = () => (
  <div class="card">
    <h1>{common.forOperators.title}</h1>
    <p>
      <Filled
        text={common.forOperators.body}
        parts={{ command: () => <code>airproof accounts role</code> }}
      />
    </p>
  </div>
)

const NotFound = () => (
  <div class="card">
    <h1>{common.notFound.title}</h1>
    <p>{common.notFound.body}</p>
    <p>
      <a href="/">{common.backToCity}</a>
    </p>
  </div>
)
