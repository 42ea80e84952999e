import { render } from 'preact'
import './app.css'
import { App } from './app.tsx'
import { learnWhoIsHere } from './me.ts'
import { followLinks } from './router.ts'
import { routeAt } from './routes.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('the page lacks #app: build dashboard/web again')
followLinks((path) => routeAt(path) !== undefined)
render(<App />, root)
void learnWhoIsHere()
