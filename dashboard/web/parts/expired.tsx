import { hasExpired } from '../me.ts'
import { place } from '../router.ts'
import { texts } from '../texts.ts'
import { Dialog } from './dialog.tsx'

const { expired } = texts.common

/** The session ended while a page was open: the way back to it. */
export function Expired() {
  const { path, search } = place.value
  const close = (): void => {
    hasExpired.value = false
  }
  return (
    <Dialog title={expired.title} isOpen={hasExpired.value} close={close}>
      <p>{expired.body}</p>
      <div class="actions">
        <a class="button primary" href={`/login?next=${encodeURIComponent(path + search)}`}>
          {expired.signIn}
        </a>
        <button type="button" onClick={close}>
          {expired.later}
        </button>
      </div>
    </Dialog>
  )
}
