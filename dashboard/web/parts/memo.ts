import { Component, type FunctionComponent, h } from 'preact'

/** Renders again only where a property has changed. */
export function memo<Props extends object>(
  render: FunctionComponent<Props>,
): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const was = Object.entries(this.props)
      const now = new Map<string, unknown>(Object.entries(next))
      return was.length !== now.size || was.some(([name, value]) => now.get(name) !== value)
    }
    override render(props: Props) {
      return h(render, props)
    }
  }
  return (props) => h(Memo, props)
}
