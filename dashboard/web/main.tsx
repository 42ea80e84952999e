import { render } from 'preact'
import './app.css'
import { App } from './app.tsx'
import { readFirstPlace } from './first-place.ts'
import { beginFont } from './font.ts'
import { learnWhoIsHere } from './me.ts'
import { beginOffline } from './offline.ts'
import { followLinks } from './router.ts'
import { loadPage, routeAt } from './routes.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('the page lacks #app: build dashboard/web again')
followLinks((path) => routeAt(path) !== undefined)
readFirstPlace()
/** The server's words stay until the page that says the same can be shown. */
const begin = async (page: Element): Promise<void> => {
  const match = routeAt(location.pathname)
  // what fails is shown by the page itself, which loads it again
  if (match !== undefined) await loadPage(match.route).catch(() => undefined)
  render(<App />, page)
}
// not awaited here: the pages' files import this one, and would wait for it
void begin(root)
beginOffline()
beginFont()
void learnWhoIsHere()
