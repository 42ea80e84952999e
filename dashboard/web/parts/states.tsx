/** Shown instead of content: it loads, it failed, or there is none. */
import type { ComponentChildren } from 'preact'
import { texts } from '../texts.ts'
import { Retry } from './retry.tsx'

const { common } = texts

type LoadingProps = {
  readonly what?: string
  /** For most of a page: as high as the window, so that what comes moves nothing on the screen. */
  readonly isTall?: boolean
}

export const Loading = ({ what = common.loading, isTall = false }: LoadingProps) => (
  <p class={`loading ${isTall ? 'tall' : ''}`} role="status">
    {what}
  </p>
)

type FailedProps = { readonly error: unknown; readonly retry?: () => void }

/** An error's own words; where trying again can help, it is tried again, and there is a button. */
export const Failed = ({ error, retry }: FailedProps) => (
  <div class="notice error" role="alert">
    <p>{error instanceof Error ? error.message : common.wentWrong}</p>
    {retry && <Retry error={error} retry={retry} />}
  </div>
)

/** Of a part whose code did not arrive: a browser asks for it again only with the page. */
export const NotLoaded = () => (
  <Failed error={new Error(common.pageNotLoaded)} retry={() => location.reload()} />
)

type EmptyProps = {
  readonly title: string
  /** There is nothing else on the page. */
  readonly isPage?: boolean
  readonly children?: ComponentChildren
}

/** Says what would be here, and the next step that brings it. */
export const Empty = ({ title, isPage = false, children }: EmptyProps) => (
  <div class="empty">
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
)
