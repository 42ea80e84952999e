import { useState } from 'preact/hooks'
import { type Column, Table } from '../parts/table.tsx'
import type { Asked } from './ask-series.ts'
import { stepMs } from './period.ts'
import { shownAs, stepText } from './quantity.ts'
import { extentOf } from './series.ts'
import { format, words } from './words.ts'

type TableProps = {
  readonly asked: Asked
  readonly names: readonly string[]
  readonly zone: string
}

/** What the charts show as a table: made when it is opened. */
export function StepTable({ asked, names, zone }: TableProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="chart-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{words.table.show}</summary>
      {isOpen && <Rows asked={asked} names={names} zone={zone} />}
    </details>
  )
}

function Rows({ asked: { series, shown }, names, zone }: TableProps) {
  const measured = names.filter((name) => {
    const line = series.lines[name]
    return line !== undefined && extentOf(line) !== undefined
  })
  const rows = [...series.starts.keys()].filter((at) => series.heard[at] === true).toReversed()
  const columns = [
    {
      name: words.table.from,
      cell: (at: number) => stepText(series.starts[at] ?? 0, stepMs[shown.step], zone),
    },
    ...measured.flatMap((name): Column<number>[] => {
      const { short, digits, unit } = shownAs(name)
      const line = series.lines[name]
      const said = (value: number | null | undefined): string =>
        typeof value === 'number' ? format.number(value, digits) : '–'
      const title = name === 'aqi' || unit === '' ? short : `${short} ${unit}`
      return [
        {
          name: words.table.average(title),
          isNumber: true,
          cell: (at) => said(line?.mean[at]),
        },
        {
          name: words.table.range(short),
          isNumber: true,
          cell: (at) =>
            typeof line?.min[at] === 'number'
              ? words.range(said(line.min[at]), said(line.max[at]))
              : '–',
        },
      ]
    }),
  ]
  return (
    <Table
      caption={words.table.caption}
      columns={columns}
      rows={rows}
      keyOf={(at) => String(series.starts[at])}
    />
  )
}
