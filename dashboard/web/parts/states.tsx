/** Shown instead of content: it loads, it failed, or there is none. */
import type { ComponentChildren } from 'preact'

export const Loading = ({ what = 'Loading…' }: { readonly what?: string }) => (
  <p class="loading" role="status">
    {what}
  </p>
)

type FailedProps = { readonly error: unknown; readonly retry?: () => void }

/** An error's own words, and a button where trying again can help. */
export const Failed = ({ error, retry }: FailedProps) => (
  <div class="notice error" role="alert">
    <p>{error instanceof Error ? error.message : 'Something went wrong.'}</p>
    {retry && (
      <button type="button" onClick={retry}>
        Try again
      </button>
    )}
  </div>
)

type EmptyProps = { readonly title: string; readonly children?: ComponentChildren }

/** Says what would be here, and the next step that brings it. */
export const Empty = ({ title, children }: EmptyProps) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
)
