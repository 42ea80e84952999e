/** Many files as one stream of readings, by time, as their sensors would have sent them. */
import type { ArchiveFormat, ArchiveReading, RowCounts } from './archive-format.ts'
import { readArchive } from './read-archive.ts'
import type { SurveyedFile } from './survey.ts'

/** Files open at once; where more overlap, the rest wait and their readings are late. */
const mostOpen = 500
const chunkSize = 1_000

type Cursor = {
  readonly rest: AsyncGenerator<readonly ArchiveReading[], void, undefined>
  chunk: readonly ArchiveReading[]
  at: number
  /** Of the reading at the cursor; one without a time goes with its predecessor. */
  timeMs: number
}

type MergeOptions = { readonly format: ArchiveFormat; readonly counts: RowCounts }

/** @param files by the time of their first reading, as a survey gives them */
export async function* mergeByTime(
  files: readonly SurveyedFile[],
  options: MergeOptions,
): AsyncGenerator<readonly ArchiveReading[], void, undefined> {
  const open: Cursor[] = []
  let next = 0
  let out: ArchiveReading[] = []

  try {
    for (;;) {
      while (next < files.length && open.length < mostOpen && isDue(files[next], open[0])) {
        const file = files[next++]
        if (file !== undefined) await openFile(open, file, options)
      }
      const first = open[0]
      if (first === undefined) {
        if (next >= files.length) break
        continue
      }
      const reading = first.chunk[first.at]
      if (reading !== undefined) out.push(reading)
      await advance(open, first)
      if (out.length < chunkSize) continue
      yield out
      out = []
    }
    if (out.length > 0) yield out
  } finally {
    await Promise.all(open.map(({ rest }) => rest.return()))
  }
}

const isDue = (file: SurveyedFile | undefined, first: Cursor | undefined): boolean =>
  file !== undefined && (first === undefined || file.firstMs <= first.timeMs)

async function openFile(
  open: Cursor[],
  { file, firstMs }: SurveyedFile,
  options: MergeOptions,
): Promise<void> {
  const cursor: Cursor = { rest: readArchive(file, options), chunk: [], at: -1, timeMs: firstMs }
  if (!(await step(cursor))) return
  open.push(cursor)
  siftUp(open, open.length - 1)
}

/** Moves the heap's first cursor on, or takes it out at its end. */
async function advance(open: Cursor[], first: Cursor): Promise<void> {
  if (first.at + 1 < first.chunk.length) moveTo(first, first.at + 1)
  else if (!(await step(first))) {
    const last = open.pop()
    if (last !== undefined && last !== first) open[0] = last
  }
  siftDown(open)
}

async function step(cursor: Cursor): Promise<boolean> {
  const { done, value } = await cursor.rest.next()
  if (done === true) return false
  cursor.chunk = value
  moveTo(cursor, 0)
  return true
}

function moveTo(cursor: Cursor, at: number): void {
  cursor.at = at
  cursor.timeMs = cursor.chunk[at]?.timeMs ?? cursor.timeMs
}

function siftUp(heap: Cursor[], from: number): void {
  let at = from
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!swapIfBefore(heap, at, parent)) return
    at = parent
  }
}

function siftDown(heap: Cursor[]): void {
  let at = 0
  for (;;) {
    const left = 2 * at + 1
    const right = left + 1
    const child =
      (heap[right]?.timeMs ?? Infinity) < (heap[left]?.timeMs ?? Infinity) ? right : left
    if (!swapIfBefore(heap, child, at)) return
    at = child
  }
}

/** Puts the cursor at `a` into the place of that at `b` where it is earlier. */
function swapIfBefore(heap: Cursor[], a: number, b: number): boolean {
  const [first, second] = [heap[a], heap[b]]
  if (first === undefined || second === undefined || first.timeMs >= second.timeMs) return false
  heap[a] = second
  heap[b] = first
  return true
}
