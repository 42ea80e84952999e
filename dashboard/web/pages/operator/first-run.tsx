import { accountTexts } from '../../account-texts.ts'
import { Copy } from '../../parts/copy.tsx'
import { addCommand } from '../../parts/example-sensor.ts'
import { Empty } from '../../parts/states.tsx'

const { firstRun: words } = accountTexts.operator

const simulateCommand = 'npx airproof simulate --sensors 40'

type FirstRunProps = { readonly add: () => void; readonly importList: () => void }

/** What to do in a network without sensors. */
export const FirstRun = ({ add, importList }: FirstRunProps) => (
  <Empty title={words.title}>
    <p>{words.intro}</p>
    <div class="actions">
      <button type="button" class="primary" onClick={add}>
        {words.add}
      </button>
      <button type="button" onClick={importList}>
        {words.importList}
      </button>
    </div>
    <p>{words.command}</p>
    <Command text={addCommand.value} />
    <p>{words.simulate}</p>
    <Command text={simulateCommand} />
  </Empty>
)

const Command = ({ text }: { readonly text: string }) => (
  <div class="operator-command">
    <pre tabIndex={0} aria-label={words.commandLabel}>
      <code>{text}</code>
    </pre>
    <Copy text={text} />
  </div>
)
