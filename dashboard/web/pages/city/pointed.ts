/** The sensor under the pointer or with the focus, in the list or on the map: both show it. */
import { signal } from '@preact/signals'

export const pointed = signal<string | undefined>(undefined)
