/** The parts of a document that the proof page's script uses: without a browser, but with the script as served. */
type Listener = (event: object) => unknown

export class TinyElement {
  textContent = ''
  value = ''
  children: TinyElement[] = []
  readonly dataset: Record<string, string> = {}
  readonly classes = new Set<string>()
  readonly listeners = new Map<string, Listener>()
  readonly classList = {
    toggle: (name: string, isOn: boolean) =>
      void (isOn ? this.classes.add(name) : this.classes.delete(name)),
  }
  addEventListener(name: string, listener: Listener): void {
    this.listeners.set(name, listener)
  }
  replaceChildren(...children: TinyElement[]): void {
    this.children = children
  }
  text(): string {
    return [this.textContent, ...this.children.map((child) => child.text())].join('\n')
  }
}

/** @param html the page: its ids become elements, and main keeps its `data-bundle` */
export function tinyPage(html: string) {
  const byId = new Map(
    [...html.matchAll(/\sid="(\w+)"/g)].map(([, id = '']) => [id, new TinyElement()]),
  )
  const main = new TinyElement()
  main.dataset['bundle'] = /data-bundle="([^"]*)"/.exec(html)?.[1] ?? ''
  const root = new TinyElement()
  return {
    root,
    find: (id: string): TinyElement => {
      const element = byId.get(id)
      if (element === undefined) throw new Error(`the page has no #${id}`)
      return element
    },
    document: {
      getElementById: (id: string) => byId.get(id) ?? null,
      querySelector: () => main,
      createElement: () => new TinyElement(),
      addEventListener: root.addEventListener.bind(root),
    },
  }
}
